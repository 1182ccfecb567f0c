"""The v0 rewarder protocol: its messages, its codec, its limits, and the episode machine's table.

This package is the specification: no clock, and no I/O but for the files of recordings. ``reports`` are the messages
between a program on the remote and its daemon, ``metadata`` the pixels by which an agent knows how old a picture is.
"""

from .codec import Envelope, decode_from_agent, decode_from_server, encode
from .errors import (
    BadBody,
    LocalProtocolError,
    MalformedEnvelope,
    MalformedReport,
    MessageId,
    ProtocolError,
    RemoteProtocolError,
    UnknownMethod,
)
from .messages import Headers

__all__ = [
    "BadBody",
    "Envelope",
    "Headers",
    "LocalProtocolError",
    "MalformedEnvelope",
    "MalformedReport",
    "MessageId",
    "ProtocolError",
    "RemoteProtocolError",
    "UnknownMethod",
    "decode_from_agent",
    "decode_from_server",
    "encode",
]
