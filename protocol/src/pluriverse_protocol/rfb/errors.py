"""Errors of RFB.

RfbError
├── RfbProtocolError          the peer sent what it must not; the connection can't be used any more
│   ├── BadHandshake          the handshake isn't one of RFB 3.3, 3.7, 3.8
│   ├── UnknownMessage        a message of a type that was never agreed on
│   ├── UnknownEncoding       a rectangle in an encoding that was never asked for
│   ├── BadGeometry           a rectangle, tile or desktop that doesn't fit
│   ├── LimitExceeded         more than ``limits`` allows
│   ├── BadData               compressed or tiled data that is invalid
│   └── BadWebSocket          the WebSocket around it isn't one of RFC 6455
└── SecurityError             client and server can't agree on security
    ├── ServerRefused         the server refuses the connection; its reason is in the message
    ├── NoCommonSecurity      it offers no security type that is known here and allowed
    └── AuthenticationFailed  the password was refused, or is missing
"""

from __future__ import annotations


class RfbError(Exception):
    """Root of all errors of RFB."""


class RfbProtocolError(RfbError):
    """The peer sent something invalid; what follows it can't be parsed either."""


class BadHandshake(RfbProtocolError):
    """The handshake isn't RFB, or broke off."""


class UnknownMessage(RfbProtocolError):
    """A message type that was never agreed on."""


class UnknownEncoding(RfbProtocolError):
    """A rectangle in an encoding that was never asked for."""


class BadGeometry(RfbProtocolError):
    """Coordinates or sizes that don't fit the desktop, or an impossible desktop."""


class LimitExceeded(RfbProtocolError):
    """More of something than ``limits`` allows."""


class BadData(RfbProtocolError):
    """Invalid compressed data, or tiles that don't add up to their rectangle."""


class BadWebSocket(RfbProtocolError):
    """A WebSocket's message that is invalid, or not binary."""


class SecurityError(RfbError):
    """Root of refusals during the handshake."""


class ServerRefused(SecurityError):
    """The server refuses the connection."""


class NoCommonSecurity(SecurityError):
    """None of the server's security types can be used; the message names them."""


class AuthenticationFailed(SecurityError):
    """The password was refused, or is needed and wasn't given."""
