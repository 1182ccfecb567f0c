"""A server's side of the handshake, from its version to ClientInit.

    handshake = ServerHandshake(challenge)
    send(handshake.greeting)
    while not handshake.done:
        send(handshake.feed(receive()))
        if handshake.answer is not None:
            send(handshake.accept() if … else handshake.refuse("…"))

RFB 3.3, 3.7 and 3.8 (RFC 6143, 7.1 to 7.3) with None or VNC authentication.
"""

from __future__ import annotations

import struct
from typing import Final

from .errors import BadHandshake
from .handshake import ANY_VERSION, OK, VERSION, VERSION_BYTES, ServerInit, spoken_version
from .security import CHALLENGE_BYTES, SecurityType
from .steps import PAUSE, StepReader, Steps

_FAILED: Final = 1
_LENGTH: Final = struct.Struct(">I")
_SIZE: Final = struct.Struct(">HH")


class ServerHandshake:
    """The handshake of one connection. After an error or a refusal the connection can't be used any more."""

    def __init__(self, challenge: bytes | None) -> None:
        """``challenge``: 16 random bytes for VNC authentication; None lets every client in."""
        self._challenge = challenge
        self.greeting: bytes = VERSION % (3, 8)
        """What the server sends first."""
        self.answer: bytes | None = None
        """The client's answer to the challenge, which awaits ``accept`` or ``refuse``."""
        self.done: bool = False
        """Whether the client has sent all of its part; ``server_init`` is what comes next."""
        self._version = (3, 8)
        self._out = bytearray()
        self._reader = StepReader(self._run())

    @property
    def leftover(self) -> bytes:
        """The bytes that came after ClientInit: the client's first messages."""
        return self._reader.unread if self.done else b""

    def feed(self, data: bytes | bytearray | memoryview) -> bytes:
        """Take in what the client sent, however it was cut; return what to send to it now."""
        self._reader.feed(data)
        return self._taken()

    def accept(self) -> bytes:
        """Let the client in whose ``answer`` is right; return what to send to it."""
        self.answer = None
        self._out += _LENGTH.pack(OK)
        self._reader.resume()
        return self._taken()

    def refuse(self, reason: str) -> bytes:
        """Return what to send to a client whose ``answer`` is wrong, before the connection is closed."""
        text = reason.encode()
        words = _LENGTH.pack(len(text)) + text if self._version == (3, 8) else b""
        return _LENGTH.pack(_FAILED) + words

    def _taken(self) -> bytes:
        out = bytes(self._out)
        self._out.clear()
        return out

    def _run(self) -> Steps[None]:
        version = yield VERSION_BYTES
        match = ANY_VERSION.fullmatch(version)
        if match is None:
            raise BadHandshake(f"an RFB client answers with its version, this one with {version!r}")
        self._version = spoken_version((int(match[1]), int(match[2])))
        kind = SecurityType.NONE if self._challenge is None else SecurityType.VNC
        if self._version == (3, 3):
            self._out += _LENGTH.pack(kind)
        else:
            self._out += bytes((1, kind))
            chosen = (yield 1)[0]
            if chosen != kind:
                raise BadHandshake(f"the client chose the security type {chosen}, which was not offered")
        if self._challenge is not None:
            self._out += self._challenge
            self.answer = yield CHALLENGE_BYTES
            yield PAUSE
        elif self._version == (3, 8):
            self._out += _LENGTH.pack(OK)
        yield 1  # whether others may stay connected, which they always may
        self.done = True
        yield PAUSE


def server_init(desktop: ServerInit) -> bytes:
    name = desktop.name.encode()
    size = _SIZE.pack(desktop.width, desktop.height)
    return size + desktop.pixel_format.to_bytes() + _LENGTH.pack(len(name)) + name
