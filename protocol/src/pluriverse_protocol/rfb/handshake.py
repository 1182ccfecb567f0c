"""A client's side of the handshake, from the server's version to ServerInit.

    handshake = Handshake(password="secret")
    while handshake.done is None:
        send(handshake.feed(receive()))
    stream = ServerStream(handshake.done.width, handshake.done.height, readers)
    stream.feed(handshake.leftover)

RFB 3.3, 3.7 and 3.8 (RFC 6143, 7.1 to 7.3) with None or VNC authentication.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Final

from .errors import AuthenticationFailed, BadGeometry, BadHandshake, LimitExceeded, RfbError, ServerRefused
from .geometry import desktop_fault
from .limits import MAX_NAME_BYTES, MAX_REASON_BYTES
from .pixel_format import PIXEL_FORMAT_BYTES, PixelFormat
from .security import CHALLENGE_BYTES, SecurityType, answer_challenge, choose_type
from .steps import PAUSE, StepReader, Steps

VERSION: Final = b"RFB %03d.%03d\n"
VERSION_BYTES: Final = 12
ANY_VERSION: Final = re.compile(rb"RFB (\d{3})\.(\d{3})\n")

# Results of authentication. TOO_MANY isn't sent in RFB 3.8, which has a reason in words instead.
OK: Final = 0
TOO_MANY: Final = 2


@dataclass(frozen=True, slots=True)
class ServerInit:
    """The desktop: its size in pixels, its own pixel format, its name."""

    width: int
    height: int
    pixel_format: PixelFormat
    name: str


class Handshake:
    """The handshake of one connection.

    ``shared`` lets other clients of the server stay. After an error the connection can't be used any more.
    """

    def __init__(self, *, password: str | None = None, shared: bool = True) -> None:
        self._password = password
        self._shared = shared
        self.version: tuple[int, int] | None = None
        """The version that was agreed on: (3, 3), (3, 7) or (3, 8)."""
        self.done: ServerInit | None = None
        """The server's last message; None as long as the handshake goes on."""
        self._out = bytearray()
        self._stage = "its greeting"
        self._reader = StepReader(self._run())

    @property
    def leftover(self) -> bytes:
        """The bytes that came after ServerInit: the first of the server's stream."""
        return self._reader.unread if self.done else b""

    def feed(self, data: bytes | bytearray | memoryview) -> bytes:
        """Take in what the server sent, however it was cut; return what to send to it now."""
        self._reader.feed(data)
        out = bytes(self._out)
        self._out.clear()
        return out

    def hung_up(self) -> RfbError:
        """Return the error that it is if the server hangs up now."""
        if self._stage == "the result of authentication":
            return AuthenticationFailed(
                "the server closed the connection instead of accepting or refusing the password"
            )
        if self._stage == "the reason why authentication failed":
            return AuthenticationFailed("the server refused the password and closed the connection without a reason")
        return BadHandshake(f"the server closed the connection; expected {self._stage}")

    def _run(self) -> Steps[None]:
        version = yield from self._agree_on_version()
        kind = yield from (self._read_security() if version == (3, 3) else self._choose_security())
        yield from self._authenticate(kind)
        self._out.append(self._shared)
        yield from self._read_server_init()

    def _agree_on_version(self) -> Steps[tuple[int, int]]:
        greeting = yield VERSION_BYTES
        match = ANY_VERSION.fullmatch(greeting)
        if match is None:
            raise BadHandshake(f"an RFB server greets with its version, this one with {greeting!r}")
        offered = int(match[1]), int(match[2])
        if offered < (3, 3):
            raise BadHandshake(f"the server knows no later version of RFB than {offered[0]}.{offered[1]}")
        self.version = spoken_version(offered)
        self._out += VERSION % self.version
        self._stage = "its security types"
        return self.version

    def _read_security(self) -> Steps[SecurityType]:
        kind = int.from_bytes((yield 4), "big")
        if kind == 0:
            yield from self._refused()
        return choose_type([kind], password=self._password is not None)

    def _choose_security(self) -> Steps[SecurityType]:
        count = (yield 1)[0]
        if count == 0:
            yield from self._refused()
        offered = yield count
        kind = choose_type(offered, password=self._password is not None)
        self._out.append(kind)
        return kind

    def _refused(self) -> Steps[None]:
        self._stage = "the reason why it refuses"
        reason = yield from self._read_text("reason", MAX_REASON_BYTES)
        raise ServerRefused(f"the server refuses the connection: {reason}")

    def _authenticate(self, kind: SecurityType) -> Steps[None]:
        if kind is SecurityType.VNC:
            assert self._password is not None
            self._stage = "a challenge for the password"
            challenge = yield CHALLENGE_BYTES
            self._out += answer_challenge(self._password, challenge)
        elif self.version != (3, 8):
            return  # where nothing could have failed, only 3.8 has a result
        self._stage = "the result of authentication"
        result = int.from_bytes((yield 4), "big")
        if result != OK:
            yield from self._failed_authentication(result)

    def _failed_authentication(self, result: int) -> Steps[None]:
        if self.version != (3, 8):
            why = "too many attempts" if result == TOO_MANY else "the password is wrong"
            raise AuthenticationFailed(f"the server refuses: {why}")
        self._stage = "the reason why authentication failed"
        reason = yield from self._read_text("reason", MAX_REASON_BYTES)
        raise AuthenticationFailed(f"the server refuses: {reason}")

    def _read_server_init(self) -> Steps[None]:
        self._stage = "its desktop"
        width, height = struct.unpack(">HH", (yield 4))
        fault = desktop_fault(width, height)
        if fault is not None:
            raise BadGeometry(fault)
        pixel_format = PixelFormat.parse((yield PIXEL_FORMAT_BYTES))
        name = yield from self._read_text("desktop's name", MAX_NAME_BYTES)
        self.done = ServerInit(width, height, pixel_format, name)
        yield PAUSE

    def _read_text(self, what: str, limit: int) -> Steps[str]:
        size = int.from_bytes((yield 4), "big")
        if size > limit:
            raise LimitExceeded(f"a {what} of {size} bytes, more than {limit}")
        return (yield size).decode(errors="replace")


def spoken_version(offered: tuple[int, int]) -> tuple[int, int]:
    """Return the version to speak with a peer that knows this one: 3.3, 3.7 or 3.8."""
    # Versions in between don't exist and count as 3.3; RealVNC's 4 and 5 and Apple's 3.889 take 3.8.
    return (3, 8) if offered >= (3, 8) else (3, 7) if offered == (3, 7) else (3, 3)
