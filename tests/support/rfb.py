"""A small blocking RFB 3.8 client: enough of a viewer to test a VNC server, and quick enough to time it.

It asks for Raw rectangles, for changes of the desktop's size and for the pointer's picture (which it throws away, so
that the server doesn't paint the pointer into ``framebuffer``). One request for an update is always under way, so a
change is sent to it the moment that the server has it.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

import numpy as np
import numpy.typing as npt
from support.des import encrypt_block

# Raw and CopyRect are all that a server sends to a client that names no more; the others are pseudo-encodings.
RAW: Final = 0
DESKTOP_SIZE: Final = -223
EXTENDED_DESKTOP_SIZE: Final = -308
CURSOR: Final = -239

NO_AUTHENTICATION: Final = 1
VNC_AUTHENTICATION: Final = 2

# A server that says nothing for this long in the middle of a message is broken; a test should say so and go on.
SILENCE_S: Final = 10.0

Rgb = tuple[int, int, int]


class RfbError(Exception):
    """The server broke the protocol, hung up, or stayed silent."""


class AuthenticationFailed(RfbError):
    """The server refused the password."""


class RfbClient:
    """One viewer. ``framebuffer`` is what it sees: uint8 of shape (height, width, 4), blue green red unused."""

    def __init__(self, host: str, port: int, password: str | None = None, *, shared: bool = True) -> None:
        self._socket = socket.create_connection((host, port), timeout=SILENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.security_types = self._agree_on_version_and_list_security()
            self._authenticate(password)
            self._socket.sendall(bytes([shared]))
            self.width, self.height = struct.unpack(">HH", self._read(4))
            self._read(16)  # the server's own pixel format, which is not used
            self.name = self._read(struct.unpack(">I", self._read(4))[0]).decode()
            self._choose_format()
        except BaseException:
            self._socket.close()
            raise
        self.framebuffer: npt.NDArray[np.uint8] = np.zeros((self.height, self.width, 4), np.uint8)
        self.updates = 0
        self.size_refusal = 0  # why a size that was asked for was refused, in the server's numbers: 1 is "prohibited"
        self._request_update(incremental=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def key(self, keysym: int, down: bool) -> None:
        """A key goes down or up."""
        self._socket.sendall(struct.pack(">BBxxI", 4, down, keysym))

    def press(self, keysym: int) -> None:
        """A key goes down and up at once."""
        self._socket.sendall(struct.pack(">BBxxIBBxxI", 4, 1, keysym, 4, 0, keysym))

    def pointer(self, x: int, y: int, mask: int = 0) -> None:
        """The pointer is at (x, y) with the buttons of ``mask`` held."""
        self._socket.sendall(struct.pack(">BBHH", 5, mask, x, y))

    def ask_for_size(self, width: int, height: int) -> None:
        """Ask the server for a desktop of this size, of one screen."""
        self._socket.sendall(struct.pack(">BxHHBxIHHHHI", 251, width, height, 1, 0, 0, 0, width, height, 0))

    def pixel(self, x: int, y: int) -> Rgb:
        """The colour last seen at (x, y)."""
        blue, green, red = self.framebuffer[y, x, :3].tolist()
        return red, green, blue

    def update(self, timeout_s: float = SILENCE_S) -> bool:
        """Take in one framebuffer update and ask for the next; False if none came in time."""
        deadline = time.monotonic() + timeout_s
        while select.select([self._socket], [], [], max(0.0, deadline - time.monotonic()))[0]:
            kind = self._read(1)[0]
            if kind == 0:
                self._read_update()
                self.updates += 1
                return True
            self._skip_message(kind)
        return False

    def wait_until(self, condition: Callable[[], bool], timeout_s: float = SILENCE_S) -> None:
        """Take in updates until the condition holds.

        Raises:
            RfbError: it did not hold in time.
        """
        deadline = time.monotonic() + timeout_s
        # Before the first update the framebuffer is black by assumption only.
        while self.updates == 0 or not condition():
            if not self.update(deadline - time.monotonic()):
                raise RfbError(f"what was waited for did not appear within {timeout_s} s")

    def wait_for_pixel(self, x: int, y: int, rgb: Rgb, timeout_s: float = SILENCE_S) -> None:
        """Take in updates until (x, y) has this colour.

        Raises:
            RfbError: it hadn't in time; the message names the colour that it had.
        """
        try:
            self.wait_until(lambda: self.pixel(x, y) == rgb, timeout_s)
        except RfbError as error:
            raise RfbError(f"({x}, {y}) is {self.pixel(x, y)}, not {rgb}: {error}") from error

    def _agree_on_version_and_list_security(self) -> bytes:
        banner = self._read(12)
        if banner != b"RFB 003.008\n":
            raise RfbError(f"expected RFB 3.8, the server greets with {banner!r}")
        self._socket.sendall(banner)
        count = self._read(1)[0]
        if count == 0:
            raise RfbError(f"the server refuses: {self._read_reason()}")
        return self._read(count)

    def _authenticate(self, password: str | None) -> None:
        kind = NO_AUTHENTICATION if password is None else VNC_AUTHENTICATION
        if kind not in self.security_types:
            raise AuthenticationFailed(f"security type {kind} isn't among the server's: {list(self.security_types)}")
        self._socket.sendall(bytes([kind]))
        if password is not None:
            key = bytes(_reversed_bits(octet) for octet in password.encode()[:8].ljust(8, b"\0"))
            challenge = self._read(16)
            self._socket.sendall(encrypt_block(key, challenge[:8]) + encrypt_block(key, challenge[8:]))
        if struct.unpack(">I", self._read(4))[0] != 0:
            raise AuthenticationFailed(self._read_reason())

    def _read_reason(self) -> str:
        return self._read(struct.unpack(">I", self._read(4))[0]).decode(errors="replace")

    def _choose_format(self) -> None:
        # 32 bits a pixel, 24 deep, little-endian, true colour; red, green and blue at most 255, at bits 16, 8 and 0.
        pixel_format = struct.pack(">BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
        encodings = (RAW, DESKTOP_SIZE, EXTENDED_DESKTOP_SIZE, CURSOR)
        self._socket.sendall(
            b"\0\0\0\0" + pixel_format + struct.pack(f">BxH{len(encodings)}i", 2, len(encodings), *encodings)
        )

    def _request_update(self, *, incremental: bool) -> None:
        self._socket.sendall(struct.pack(">BBHHHH", 3, incremental, 0, 0, self.width, self.height))

    def _read_update(self) -> None:
        for _ in range(struct.unpack(">xH", self._read(3))[0]):
            x, y, width, height, encoding = struct.unpack(">HHHHi", self._read(12))
            if encoding == RAW:
                pixels = np.frombuffer(self._read_array(width * height * 4), np.uint8)
                self.framebuffer[y : y + height, x : x + width] = pixels.reshape(height, width, 4)
            elif encoding == CURSOR:
                self._read(width * height * 4 + (width + 7) // 8 * height)
            elif encoding == EXTENDED_DESKTOP_SIZE:
                self._read(16 * self._read(4)[0])
                if y == 0:
                    self._resize(width, height)
                else:
                    self.size_refusal = y
            elif encoding == DESKTOP_SIZE:
                self._resize(width, height)
            else:
                raise RfbError(f"a rectangle of encoding {encoding}, which was not asked for")
        self._request_update(incremental=True)

    def _resize(self, width: int, height: int) -> None:
        if (width, height) != (self.width, self.height):
            self.width, self.height = width, height
            self.framebuffer = np.zeros((height, width, 4), np.uint8)

    def _skip_message(self, kind: int) -> None:
        if kind == 1:  # colour map
            _, count = struct.unpack(">xHH", self._read(5))
            self._read(count * 6)
        elif kind == 3:  # cut text
            self._read(struct.unpack(">xxxI", self._read(7))[0])
        elif kind != 2:  # a bell has no more
            raise RfbError(f"a message of unknown type {kind}")

    def _read(self, count: int) -> bytes:
        return bytes(self._read_array(count))

    def _read_array(self, count: int) -> bytearray:
        data = bytearray(count)
        view = memoryview(data)
        got = 0
        while got < count:
            try:
                received = self._socket.recv_into(view[got:])
            except OSError as error:
                raise RfbError(f"the server broke off after {got} of {count} bytes: {error}") from error
            if received == 0:
                raise RfbError(f"the server hung up after {got} of {count} bytes")
            got += received
        return data


def _reversed_bits(octet: int) -> int:
    return int(f"{octet:08b}"[::-1], 2)
