"""The agent's end of VNC without sockets: handshake, messages, and the decoder in its two implementations."""

from __future__ import annotations

from .decoder import Decoder, implementation, make_decoder
from .errors import RfbError, RfbProtocolError
from .geometry import Region
from .handshake import Handshake, ServerInit
from .preferences import preferred_encodings

__all__ = [
    "Decoder",
    "Handshake",
    "Region",
    "RfbError",
    "RfbProtocolError",
    "ServerInit",
    "implementation",
    "make_decoder",
    "preferred_encodings",
]
