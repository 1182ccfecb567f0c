"""A small blocking RFB 3.8 client: enough of a viewer to test a VNC server, and quick enough to time it.

It asks for Raw rectangles, for changes of the desktop's size and for the pointer's picture (which it throws away, so
that the server doesn't paint the pointer into ``framebuffer``). One request for an update is always under way, so a
change is sent to it the moment that the server has it.
"""

import select
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np
import numpy.typing as npt
from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.errors import AuthenticationFailed, RfbError
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.numbers import Encoding
from pluriverse_protocol.rfb.pixel_format import BYTES_PER_PIXEL
from pluriverse_protocol.rfb.server_stream import RectangleReader, ServerStream
from pluriverse_protocol.rfb.steps import Steps

__all__ = ["AuthenticationFailed", "RfbClient", "RfbError", "Rgb"]

RECEIVE_BYTES: Final = 1 << 18

# A server that says nothing for this long in the middle of a message is broken; a test should say so and go on.
SILENCE_S: Final = 60.0

Rgb = tuple[int, int, int]


class RfbClient:
    """One viewer. ``framebuffer`` is what it sees: uint8 of shape (height, width, 4), blue green red unused."""

    ENCODINGS: tuple[int, ...] = (
        Encoding.RAW,
        Encoding.DESKTOP_SIZE,
        Encoding.EXTENDED_DESKTOP_SIZE,
        Encoding.CURSOR,
    )

    def __init__(
        self,
        host: str | Path,
        port: int = 0,
        password: str | None = None,
        *,
        shared: bool = True,
        nine_buttons: bool = False,
    ) -> None:
        """Connect to a port, or to a Unix socket. ``nine_buttons``: ask for them, and wait until they are taken."""
        if isinstance(host, Path):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(SILENCE_S)
            self._socket.connect(str(host))
        else:
            self._socket = socket.create_connection((host, port), timeout=SILENCE_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            handshake = Handshake(password=password, shared=shared)
            desktop = self._shake_hands(handshake)
            self._choose_format([Encoding.EXTENDED_MOUSE_BUTTONS] if nine_buttons else [])
        except BaseException:
            self._socket.close()
            raise
        self.name = desktop.name
        self.framebuffer: npt.NDArray[np.uint8]
        self._on_resize(desktop.width, desktop.height)
        self._stream = ServerStream(desktop.width, desktop.height, self._readers(), self._on_resize)
        self._stream.feed(handshake.leftover)
        self._request_update(incremental=False)
        while nine_buttons and not self._stream.extended_buttons:
            self.update()

    @property
    def width(self) -> int:
        return self._stream.width

    @property
    def height(self) -> int:
        return self._stream.height

    @property
    def updates(self) -> int:
        return self._stream.updates

    @property
    def size_refusal(self) -> int:
        """Why a size that was asked for was refused, in the server's numbers: 1 is "prohibited"."""
        return self._stream.size_refusal

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def key(self, keysym: int, down: bool) -> None:
        self._socket.sendall(messages.key_event(keysym, down))

    def press(self, keysym: int) -> None:
        self._socket.sendall(messages.key_event(keysym, True) + messages.key_event(keysym, False))

    def pointer(self, x: int, y: int, mask: int = 0) -> None:
        """The pointer is at (x, y) with the buttons of ``mask`` held."""
        self._socket.sendall(messages.pointer_event(x, y, mask, extended=self._stream.extended_buttons))

    def ask_for_size(self, width: int, height: int) -> None:
        self._socket.sendall(messages.set_desktop_size(width, height))

    def pixel(self, x: int, y: int) -> Rgb:
        blue, green, red = self.framebuffer[y, x, :3].tolist()
        return red, green, blue

    def update(self, timeout_s: float = SILENCE_S) -> bool:
        """Take in one framebuffer update and ask for the next; False if none came in time."""
        deadline = time.monotonic() + timeout_s
        before = self._stream.updates
        while select.select([self._socket], [], [], max(0.0, deadline - time.monotonic()))[0]:
            data = self._receive()
            if not data:
                raise RfbError("the server hung up")
            self._stream.feed(data)
            if self._stream.updates > before:
                self._request_update(incremental=True)
                return True
            if self._stream.in_update:
                deadline = time.monotonic() + SILENCE_S
        return False

    def wait_until(self, condition: Callable[[], bool], timeout_s: float = SILENCE_S) -> None:
        """Take in updates until the condition holds."""
        deadline = time.monotonic() + timeout_s
        # Before the first update the framebuffer is black by assumption only.
        while self.updates == 0 or not condition():
            if not self.update(deadline - time.monotonic()):
                raise RfbError(f"what was waited for did not appear within {timeout_s} s")

    def wait_for_pixel(self, x: int, y: int, rgb: Rgb, timeout_s: float = SILENCE_S) -> None:
        """Take in updates until (x, y) has this colour."""
        try:
            self.wait_until(lambda: self.pixel(x, y) == rgb, timeout_s)
        except RfbError as error:
            raise RfbError(f"({x}, {y}) is {self.pixel(x, y)}, not {rgb}: {error}") from error

    def _shake_hands(self, handshake: Handshake) -> ServerInit:
        while handshake.done is None:
            data = self._receive()
            if not data:
                raise handshake.hung_up()
            self._socket.sendall(handshake.feed(data))
        return handshake.done

    def _choose_format(self, extensions: Sequence[int]) -> None:
        self._socket.sendall(messages.set_pixel_format() + messages.set_encodings([*self.ENCODINGS, *extensions]))

    def _request_update(self, *, incremental: bool) -> None:
        self._socket.sendall(
            messages.framebuffer_update_request(0, 0, self.width, self.height, incremental=incremental)
        )

    def _readers(self) -> dict[int, RectangleReader]:
        return {Encoding.RAW: self._read_raw}

    def _read_raw(self, r: Region) -> Steps[None]:
        pixels = np.frombuffer((yield r.width * r.height * BYTES_PER_PIXEL), np.uint8)
        self.framebuffer[r.y : r.y + r.height, r.x : r.x + r.width] = pixels.reshape(r.height, r.width, 4)

    def _on_resize(self, width: int, height: int) -> None:
        self.framebuffer = np.zeros((height, width, 4), np.uint8)

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(RECEIVE_BYTES)
        except OSError as error:
            raise RfbError(f"the server broke off: {error}") from error
