"""From the server's greeting to ServerInit, without a socket.

    handshake = Handshake(password="secret")
    while handshake.done is None:
        send(handshake.feed(receive()))
        if handshake.wants_tls:
            … put TLS around the socket …
            send(handshake.tls_started())
    decoder = make_decoder(handshake.done.width, handshake.done.height)
    decoder.feed(handshake.leftover)

RFB 3.3, 3.7 and 3.8 (RFC 6143, 7.1 to 7.3) with None, VNC authentication, or VeNCrypt 0.2 around either.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

from .errors import AuthenticationFailed, BadGeometry, BadHandshake, LimitExceeded, RfbError, ServerRefused
from .limits import MAX_NAME_BYTES, MAX_PIXELS, MAX_REASON_BYTES, MAX_SIDE
from .security import CHALLENGE_BYTES, SecurityType, Tls, answer_challenge, choose_subtype, choose_type

BANNER_BYTES: Final = 12
BANNER: Final = re.compile(rb"RFB (\d{3})\.(\d{3})\n")
VENCRYPT_VERSION: Final = b"\x00\x02"

# The results of authentication. The third is sent before RFB 3.8, which has a reason in words instead.
OK: Final = 0
TOO_MANY: Final = 2

_Steps = Generator[int, bytes, None]
_Text = Generator[int, bytes, str]


@dataclass(frozen=True, slots=True)
class PixelFormat:
    """How the server would send pixels if it were not asked for another format."""

    bits_per_pixel: int
    depth: int
    big_endian: bool
    true_colour: bool
    red_max: int
    green_max: int
    blue_max: int
    red_shift: int
    green_shift: int
    blue_shift: int


@dataclass(frozen=True, slots=True)
class ServerInit:
    """The desktop: its size in pixels, its own format of pixels, its name."""

    width: int
    height: int
    pixel_format: PixelFormat
    name: str


class Handshake:
    """One connection's. ``shared`` lets other clients of the server stay.

    ``require_tls`` refuses everything but VeNCrypt; without it TLS is used where the server offers nothing else.
    After an error it is dead, and so is the connection.
    """

    def __init__(self, *, password: str | None = None, shared: bool = True, require_tls: bool = False) -> None:
        self._password = password
        self._shared = shared
        self._require_tls = require_tls
        self.version: tuple[int, int] | None = None
        """What was agreed on: (3, 3), (3, 7) or (3, 8)."""
        self.done: ServerInit | None = None
        """What the server said last; None as long as the handshake goes on."""
        self.wants_tls: Tls | None = None
        """The owner must start TLS now, and then call ``tls_started``."""
        self._buffer = bytearray()
        self._out = bytearray()
        self._stage = "its greeting"
        self._failed = False
        self._steps = self._run()
        self._need = next(self._steps)

    @property
    def leftover(self) -> bytes:
        """What the server sent after ServerInit: the decoder's first food."""
        return bytes(self._buffer) if self.done else b""

    def feed(self, data: bytes | bytearray | memoryview) -> bytes:
        """Take in what the server sent, however it was cut. What to send to it now.

        Raises:
            BadHandshake, BadGeometry, LimitExceeded: it isn't a handshake.
            ServerRefused, NoCommonSecurity, AuthenticationFailed: this side isn't let in; says why.
        """
        self._buffer += data
        if self.wants_tls is not None:
            self._refuse_open_bytes()
        return self._advance()

    def tls_started(self) -> bytes:
        """TLS is up; from now on all goes through it. What to send now."""
        self.wants_tls = None
        return self._advance()

    def hung_up(self) -> RfbError:
        """What it means that the server hung up now, to be raised."""
        if self._stage == "the result of authentication":
            return AuthenticationFailed("the server hung up instead of saying whether the password is right")
        if self._stage == "the reason why authentication failed":
            return AuthenticationFailed("the server refused the password, and hung up without a reason")
        return BadHandshake(f"the server hung up; what should have come was {self._stage}")

    def _advance(self) -> bytes:
        if self._failed:
            raise BadHandshake("the handshake has failed before")
        try:
            while self.done is None and self.wants_tls is None and len(self._buffer) >= self._need:
                taken = bytes(self._buffer[: self._need])
                del self._buffer[: self._need]
                self._need = self._steps.send(taken)
        except RfbError:
            self._failed = True
            raise
        out = bytes(self._out)
        self._out.clear()
        return out

    def _refuse_open_bytes(self) -> None:
        # What is sent in the open must not be taken for something that came through TLS.
        if self._buffer:
            self._failed = True
            raise BadHandshake(f"{len(self._buffer)} bytes came in the open where TLS should begin")

    def _run(self) -> _Steps:
        version = yield from self._agree_on_version()
        kind = yield from (self._be_told_security() if version == (3, 3) else self._choose_security())
        if kind is SecurityType.VENCRYPT:
            kind = yield from self._read_vencrypt()
        yield from self._authenticate(kind)
        self._out.append(self._shared)
        yield from self._read_server_init()

    def _agree_on_version(self) -> Generator[int, bytes, tuple[int, int]]:
        banner = yield BANNER_BYTES
        match = BANNER.fullmatch(banner)
        if match is None:
            raise BadHandshake(f"an RFB server greets with its version, this one with {banner!r}")
        offered = int(match[1]), int(match[2])
        if offered < (3, 3):
            raise BadHandshake(f"the server knows no later version of RFB than {offered[0]}.{offered[1]}")
        # Versions in between don't exist and count as 3.3; RealVNC's 4 and 5 and Apple's 3.889 take 3.8.
        self.version = (3, 8) if offered >= (3, 8) else (3, 7) if offered == (3, 7) else (3, 3)
        self._out += b"RFB %03d.%03d\n" % self.version
        self._stage = "its security types"
        return self.version

    def _be_told_security(self) -> Generator[int, bytes, SecurityType]:
        kind = int.from_bytes((yield 4), "big")
        if kind == 0:
            yield from self._refused()
        return choose_type([kind], password=self._password is not None, require_tls=self._require_tls)

    def _choose_security(self) -> Generator[int, bytes, SecurityType]:
        count = (yield 1)[0]
        if count == 0:
            yield from self._refused()
        offered = yield count
        kind = choose_type(offered, password=self._password is not None, require_tls=self._require_tls)
        self._out.append(kind)
        return kind

    def _refused(self) -> _Steps:
        self._stage = "the reason why it refuses"
        reason = yield from self._read_text("reason", MAX_REASON_BYTES)
        raise ServerRefused(f"the server refuses the connection: {reason}")

    def _read_vencrypt(self) -> Generator[int, bytes, SecurityType]:
        self._stage = "its version of VeNCrypt"
        version = yield 2
        if version < VENCRYPT_VERSION:
            raise BadHandshake(f"the server knows VeNCrypt {version[0]}.{version[1]}, expected 0.2")
        self._out += VENCRYPT_VERSION
        if (yield 1)[0] != 0:
            raise BadHandshake("the server doesn't take VeNCrypt 0.2, though it offered it")
        self._stage = "its subtypes of VeNCrypt"
        count = (yield 1)[0]
        offered = struct.unpack(f">{count}I", (yield 4 * count))
        subtype = choose_subtype(offered, password=self._password is not None)
        self._out += struct.pack(">I", subtype.number)
        self._stage = "the beginning of TLS"
        if (yield 1)[0] != 1:
            raise BadHandshake(f"the server can't begin TLS for subtype {subtype.number}, though it offered it")
        self._refuse_open_bytes()
        self.wants_tls = subtype.tls
        yield 0  # what follows is said once TLS has started
        return subtype.inner

    def _authenticate(self, kind: SecurityType) -> _Steps:
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

    def _failed_authentication(self, result: int) -> _Steps:
        if self.version != (3, 8):
            why = "too many attempts" if result == TOO_MANY else "the password is wrong"
            raise AuthenticationFailed(f"the server refuses: {why}")
        self._stage = "the reason why authentication failed"
        reason = yield from self._read_text("reason", MAX_REASON_BYTES)
        raise AuthenticationFailed(f"the server refuses: {reason}")

    def _read_server_init(self) -> _Steps:
        self._stage = "its desktop"
        width, height = struct.unpack(">HH", (yield 4))
        if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE) or width * height > MAX_PIXELS:
            raise BadGeometry(f"a desktop of {width}x{height}; it has to be 1 to {MAX_SIDE} pixels each way")
        values = struct.unpack(">BB??HHHBBBxxx", (yield 16))
        name = yield from self._read_text("desktop's name", MAX_NAME_BYTES)
        self.done = ServerInit(width, height, PixelFormat(*values), name)
        yield 0

    def _read_text(self, what: str, limit: int) -> _Text:
        size = int.from_bytes((yield 4), "big")
        if size > limit:
            raise LimitExceeded(f"a {what} of {size} bytes, more than {limit}")
        return (yield size).decode(errors="replace")
