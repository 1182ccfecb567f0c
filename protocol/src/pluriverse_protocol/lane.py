"""Messages with pixels behind them, as remotes send them in lockstep. Pure.

The agent opens another WebSocket, at ``PATH``, on which there are only steps. What it sends are the text messages of
``codec``; what it gets are binary ones: four bytes with the length of such a message, the message, and the pixels, rows
of unsigned bytes from the top.
"""

from __future__ import annotations

import struct
from math import prod
from typing import Final

from .codec import Envelope, decode_from_server
from .errors import MalformedEnvelope
from .messages import FirstFrame, RestoreReply, ServerMessage, StepReply

PATH: Final = "/step"

# The parameter of the query that says which of a remote's environments is stepped; without it the remote's own, 0.
SLOT: Final = "slot"

_LENGTH: Final = struct.Struct("!I")


def pack(text: str, pixels: bytes | memoryview = b"") -> bytes:
    """Return the binary message of an encoded message and its pixels."""
    data = text.encode()
    return b"".join((_LENGTH.pack(len(data)), data, pixels))


def unpack(data: bytes | memoryview) -> tuple[Envelope[ServerMessage], memoryview]:
    """Return the message and the pixels of a binary message.

    Raises:
        MalformedEnvelope: it isn't one, or its pixels are more or fewer than its ``frame`` says.
        UnknownMethod: see ``codec.decode_from_server``.
        BadBody: the same.
    """
    if len(data) < _LENGTH.size:
        raise MalformedEnvelope(f"a binary message of {len(data)} bytes, expected the length of a text first")
    (length,) = _LENGTH.unpack_from(data)
    start = _LENGTH.size + length
    if start > len(data):
        raise MalformedEnvelope(f"a text of {length} bytes in a binary message of {len(data)}")
    envelope = decode_from_server(bytes(data[_LENGTH.size : start]))
    pixels = memoryview(data)[start:]
    message = envelope.message
    expected = prod(message.frame) if isinstance(message, FirstFrame | StepReply | RestoreReply) else 0
    if len(pixels) != expected:
        raise MalformedEnvelope(f"{len(pixels)} bytes of pixels, expected {expected}")
    return envelope, pixels
