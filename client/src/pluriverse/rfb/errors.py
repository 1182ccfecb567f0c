"""Errors of decoders and connections: those of RFB, and one more."""

from __future__ import annotations

from pluriverse_protocol.rfb.errors import (
    AuthenticationFailed,
    BadData,
    BadGeometry,
    BadHandshake,
    BadWebSocket,
    LimitExceeded,
    NoCommonSecurity,
    RfbError,
    RfbProtocolError,
    SecurityError,
    ServerRefused,
    UnknownEncoding,
    UnknownMessage,
)

__all__ = [
    "AuthenticationFailed",
    "BadData",
    "BadGeometry",
    "BadHandshake",
    "BadWebSocket",
    "DecoderUnavailable",
    "LimitExceeded",
    "NoCommonSecurity",
    "RfbError",
    "RfbProtocolError",
    "SecurityError",
    "ServerRefused",
    "UnknownEncoding",
    "UnknownMessage",
]


class DecoderUnavailable(RfbError):
    """PLURIVERSE_RFB names an implementation that can't be used; with the reason, and the command that fixes it."""
