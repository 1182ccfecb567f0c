"""A viewer of real screens that keeps what they send, and what is drawn on them for it."""

from __future__ import annotations

import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from pluriverse.rfb import events
from pluriverse.rfb.python_decoder import PythonDecoder
from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.numbers import FenceFlag
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.display import Screen, ScreenOptions
from pluriverse_server.x11.connection import open_display
from Xlib import X

Picture = NDArray[np.uint8]

# A server that says nothing for this long while something is waited for is broken.
SILENCE_S: Final = 60.0

# Rows that fit into one request of X, which holds 256 KiB, of the widest screen that is drawn here.
ROWS_A_REQUEST: Final = 32

WIDTH: Final = 192
HEIGHT: Final = 144


class Viewer:
    """A blocking VNC client around a decoder. ``stream`` is all that the server sent after ServerInit."""

    def __init__(
        self,
        port: int,
        *,
        password: str | None = None,
        encodings: Sequence[int] = (),
        greeting: bytes | None = None,
    ) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=SILENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.handshake = Handshake(password=password)
            self.desktop = self._shake_hands(greeting)
        except BaseException:
            self._socket.close()
            raise
        self.decoder = PythonDecoder(self.desktop.width, self.desktop.height)
        self.stream = bytearray()
        self.send(messages.set_pixel_format() + messages.set_encodings(encodings))
        self._take(self.handshake.leftover)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send a message."""
        self._socket.sendall(data)

    def request(self, *, incremental: bool = True) -> None:
        """Ask for an update of the whole desktop."""
        size = self.decoder.width, self.decoder.height
        self.send(messages.framebuffer_update_request(0, 0, *size, incremental=incremental))

    def receive(self) -> None:
        """Take in some more of the stream; answer fences."""
        self._take(self._socket.recv(1 << 16))

    def update(self, *, incremental: bool = True) -> None:
        """Ask for an update and take it in, whole."""
        before = self.decoder.updates
        self.request(incremental=incremental)
        while self.decoder.updates == before:
            self.receive()

    def _take(self, data: bytes) -> None:
        self.stream += data
        for event in self.decoder.feed(data):
            if isinstance(event, events.Fence) and event.flags & FenceFlag.REQUEST:
                self.send(messages.fence(event.flags & ~FenceFlag.REQUEST, event.payload))

    def _shake_hands(self, greeting: bytes | None) -> ServerInit:
        if greeting is not None:
            # As a server of another version would greet; the answer makes this one take that version.
            while greeting and (data := self._socket.recv(len(greeting))):
                greeting, replaced = greeting[len(data) :], greeting[: len(data)]
                self.send(self.handshake.feed(replaced))
        while self.handshake.done is None:
            data = self._socket.recv(1 << 16)
            if not data:
                raise self.handshake.hung_up()
            self.send(self.handshake.feed(data))
        return self.handshake.done


class Easel:
    """Draws on a screen's root window."""

    def __init__(self, screen: Screen) -> None:
        self._connection: Any = open_display(screen.display, screen.xauthority)
        self._root = self._connection.screen().root
        self._context = self._root.create_gc()
        self._hide_pointer()

    def draw(self, picture: Picture, x: int = 0, y: int = 0) -> None:
        """Put a picture at (x, y). Back when X has drawn it."""
        height, width, _ = picture.shape
        pixels = np.insert(picture[..., ::-1], 3, 0, axis=2)
        for row in range(0, height, ROWS_A_REQUEST):
            band = pixels[row : row + ROWS_A_REQUEST]
            place = (x, y + row, width, len(band))
            self._root.put_image(self._context, *place, X.ZPixmap, 24, 0, band.tobytes())
        self._connection.sync()

    def _hide_pointer(self) -> None:
        # Xvfb paints it into the picture.
        nothing = self._root.create_pixmap(1, 1, 1)
        context = nothing.create_gc(foreground=0)
        nothing.fill_rectangle(context, 0, 0, 1, 1)
        self._root.change_attributes(cursor=nothing.create_cursor(nothing, (0, 0, 0), (0, 0, 0), 0, 0))
        self._connection.sync()

    def close(self) -> None:
        """Leave what is drawn."""
        self._connection.display.socket.close()


@contextmanager
def easel(screen: Screen) -> Generator[Easel]:
    """An easel that is closed at the end."""
    artist = Easel(screen)
    try:
        yield artist
    finally:
        artist.close()


def photo(width: int, height: int, moment: float = 0.0) -> Picture:
    """Like a photograph: soft shapes in many colours with a little grain; another one at each moment."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    waves = [np.sin(x / 37 + moment) + np.cos(y / 23 - moment), np.sin((x + y) / 61 + moment), np.cos(x * y / 9000)]
    grain = np.random.default_rng(int(moment * 1000)).normal(0, 2, (height, width, 3))
    return (127 + 45 * np.stack(waves, axis=2) + grain).clip(0, 255).astype(np.uint8)


def sprites(width: int, height: int, seed: int = 0, colours: int = 12) -> Picture:
    """Like an old game: rectangles of few colours on one background."""
    chance = np.random.default_rng(seed)
    palette = chance.integers(0, 256, (colours, 3), dtype=np.uint8)
    picture = np.broadcast_to(palette[0], (height, width, 3)).copy()
    for _ in range(40):
        x, y = chance.integers(0, width), chance.integers(0, height)
        w, h = chance.integers(2, 24, 2)
        picture[y : y + h, x : x + w] = palette[chance.integers(0, colours)]
    return picture


def writing(width: int, height: int, seed: int = 0) -> Picture:
    """Like text: black specks on white."""
    specks = np.random.default_rng(seed).random((height, width, 1)) < 0.2
    return np.where(specks, np.uint8(0), np.uint8(255)).repeat(3, axis=2)


def screen_options(
    folder: Path, *, width: int = WIDTH, height: int = HEIGHT, secrets: Secrets | None = None, backend: str = "xvfb"
) -> ScreenOptions:
    """A screen on a free port of this machine's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert backend in ("xvfb", "xvnc")
    return ScreenOptions(width, height, port, "127.0.0.1", secrets, backend, folder / "screen", "recorded")
