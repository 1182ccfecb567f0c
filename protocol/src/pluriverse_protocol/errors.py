"""Errors of the protocol.

ProtocolError
├── LocalProtocolError      this side tried to send something invalid: a bug here
└── RemoteProtocolError     the peer sent something invalid
    ├── MalformedEnvelope   not one JSON object with a method, headers and a body
    ├── UnknownMethod       a well-formed envelope whose method this side doesn't take
    ├── BadBody             a known method whose body or headers don't fit it
    └── MalformedReport     a line between a program and the daemon that doesn't fit
"""

from __future__ import annotations

MessageId = int | str


class ProtocolError(Exception):
    """Root of all errors of this package."""


class LocalProtocolError(ProtocolError):
    """This side tried to send a message that the protocol doesn't allow; nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol doesn't allow.

    ``message_id`` is the sender's, where it could still be read, so that an error reply can name it.
    """

    def __init__(self, message: str, *, message_id: MessageId | None = None) -> None:
        super().__init__(message)
        self.message_id = message_id


class MalformedEnvelope(RemoteProtocolError):
    """The frame isn't one JSON object with ``method``, ``headers`` and ``body``."""


class UnknownMethod(RemoteProtocolError):
    """The envelope is well formed, but this side takes no such method."""


class BadBody(RemoteProtocolError):
    """The method is known, but its body or its headers don't fit."""


class MalformedReport(RemoteProtocolError):
    """A line on the report socket isn't a report or a request."""
