"""Errors of the RFB side.

RfbError
├── RfbProtocolError        the server sent what it must not: the connection is of no more use
│   ├── BadHandshake        the handshake isn't one of RFB 3.3, 3.7, 3.8
│   ├── UnknownMessage      a message of a type that was never agreed on
│   ├── UnknownEncoding     a rectangle in an encoding that was never asked for
│   ├── BadGeometry         a rectangle, tile or desktop that doesn't fit
│   ├── LimitExceeded       more than ``pluriverse.rfb.limits`` allows
│   └── BadData             compressed or tiled data that can't mean anything
├── SecurityError           the server and this side can't agree that this side may come in
│   ├── ServerRefused       the server wants no connection; its reason is in the message
│   ├── NoCommonSecurity    it offers no security type that is known here, or that may be used
│   └── AuthenticationFailed  it refused the password
└── DecoderUnavailable      the implementation that PLURIVERSE_RFB insists on isn't there
"""

from __future__ import annotations


class RfbError(Exception):
    """Root of all errors of this package."""


class RfbProtocolError(RfbError):
    """The server sent something invalid; what follows it can't be understood either."""


class BadHandshake(RfbProtocolError):
    """What came before ServerInit isn't RFB, or broke off."""


class UnknownMessage(RfbProtocolError):
    """A message type that a server only sends when it was asked to."""


class UnknownEncoding(RfbProtocolError):
    """A rectangle's encoding that this side never asked for."""


class BadGeometry(RfbProtocolError):
    """Coordinates or sizes that don't fit the desktop, or a desktop that can't be."""


class LimitExceeded(RfbProtocolError):
    """More of something than ``limits`` allows."""


class BadData(RfbProtocolError):
    """Compressed data that isn't, or tiles that don't add up to their rectangle."""


class SecurityError(RfbError):
    """Root of refusals before there is a desktop."""


class ServerRefused(SecurityError):
    """The server hung up in words."""


class NoCommonSecurity(SecurityError):
    """No security type of the server's can be used; the message names what it offers."""


class AuthenticationFailed(SecurityError):
    """The password was refused, or is needed and was not given."""


class DecoderUnavailable(RfbError):
    """PLURIVERSE_RFB names an implementation that can't be used; says why, and the command that mends it."""
