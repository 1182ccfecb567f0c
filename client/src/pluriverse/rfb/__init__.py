"""The agent's end of VNC without sockets: handshake, messages, and the decoder in its two implementations."""

from __future__ import annotations

from pluriverse_protocol.rfb.errors import RfbError, RfbProtocolError
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.preferences import preferred_encodings

from .decoder import Decoder, decoder_class, implementation

__all__ = [
    "Decoder",
    "Handshake",
    "Region",
    "RfbError",
    "RfbProtocolError",
    "ServerInit",
    "decoder_class",
    "implementation",
    "preferred_encodings",
]
