"""TigerVNC's own streams of full-motion content, recorded on demand and cut at its updates."""

from __future__ import annotations

import asyncio
import socket
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from desktops import HEIGHT, WIDTH
from pluriverse.rfb import events
from pluriverse.rfb.python_decoder import PythonDecoder
from pluriverse.vnc import VncOptions
from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.numbers import Encoding, FenceFlag
from pluriverse_protocol.rfb.preferences import EXTENSIONS, preferred_encodings
from pluriverse_server.display import Screen, ScreenOptions, make_screen
from pluriverse_server.x11.connection import open_display
from support.pictures import Picture, photo
from support.ports import free_port
from support.remotes import on_machine
from Xlib import X

# A message's head and a rectangle's; then come Tight's own bits, of which the low four begin zlib's streams anew.
FIRST_TIGHT_OCTET: Final = 4 + 12
FRESH_ZLIB: Final = 0x0F

PIXELS: Final = WIDTH * HEIGHT

# A server that says nothing for this long while something is waited for is broken.
SILENCE_S: Final = 60.0

# Rows that fit into one request of X, which holds 256 KiB, of the screen that is drawn here.
ROWS_A_REQUEST: Final = 32

# As many as an arcade game's hardware could show, of its usual sizes.
SPRITES: Final = 256
SPRITE_SIDES: Final = (16, 32, 48)
COLOURS: Final = 16

# Pixels that a sprite moves from one picture to the next.
SPEED: Final = 6

GAME: Final = "gym-core.BreakoutNoFrameskip-v3"

# The encodings that our driver asks for, without pseudo-encodings that not all peers know.
_KNOWN_TO_US: Final = VncOptions().encoding_numbers()
ENCODINGS: Final = tuple(number for number in _KNOWN_TO_US if number not in EXTENSIONS or number == Encoding.LAST_RECT)


class Viewer:
    """A blocking VNC client around a decoder. ``stream`` is all that the server sent after ServerInit."""

    def __init__(
        self,
        port: int,
        *,
        password: str | None = None,
        encodings: Sequence[int] = (),
    ) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=SILENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.handshake = Handshake(password=password)
            self.desktop = self._shake_hands()
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

    def _shake_hands(self) -> ServerInit:
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


@dataclass(frozen=True)
class Recorded:
    """A stream after ServerInit, update by update. ``began`` is when the first one came, in UNIX seconds.

    One that ``loops`` paints the whole screen with its first update.
    """

    updates: tuple[bytes, ...]
    pixels: int
    began: float
    loops: bool

    @property
    def stream(self) -> bytes:
        """All of it."""
        return b"".join(self.updates)

    @property
    def frames(self) -> float:
        """The number of full screens that it paints."""
        return self.pixels / PIXELS

    def again(self) -> tuple[bytes, ...]:
        """The same updates for a client that has seen them: the first begins all zlib streams anew."""
        first = bytearray(self.updates[0])
        assert int.from_bytes(first[12:16], "big") == Encoding.TIGHT
        first[FIRST_TIGHT_OCTET] |= FRESH_ZLIB
        return (bytes(first), *self.updates[1:])


@cache
def photos(count: int) -> Recorded:
    """Full screens like photographs, each another one."""
    return _record(lambda index: photo(WIDTH, HEIGHT, index / 7), count)


@cache
def sprites(count: int) -> Recorded:
    """Full screens like an arcade game's: sprites that move, on ground that scrolls."""
    return _record(_arcade, count)


@cache
def gym_core(seconds: int, *, loops: bool = False, game: str = GAME) -> Recorded:
    """Record what a viewer of an Atari game at 60 fps gets: the whole screen first, then the game's part.

    What ``loops`` has no pseudo-encodings, and times that begin again.
    """
    with on_machine("--env", game) as remote:
        options = ENCODINGS if loops else preferred_encodings(quality=8, compress_level=1)
        with Viewer(remote.vnc_port, password=remote.password, encodings=options) as viewer:
            viewer.update(incremental=False)
            began, until = time.time(), time.monotonic() + seconds
            cuts = [len(viewer.stream)]
            while time.monotonic() < until:
                viewer.update()
                cuts.append(len(viewer.stream))
            return _cut(viewer, cuts, began, loops=loops)


def _record(picture: Callable[[int], Picture], count: int) -> Recorded:
    with _screen() as screen, easel(screen) as artist:
        artist.draw(picture(0))
        with Viewer(screen.options.vnc_port, encodings=ENCODINGS) as viewer:
            began = time.time()
            cuts: list[int] = []
            for index in range(count):
                artist.draw(picture(index))
                # Whole, whatever the server has noticed of it by now.
                viewer.update(incremental=False)
                cuts.append(len(viewer.stream))
            return _cut(viewer, cuts, began, loops=True)


def _cut(viewer: Viewer, cuts: list[int], began: float, *, loops: bool) -> Recorded:
    parts = zip([0, *cuts[:-1]], cuts, strict=True)
    return Recorded(tuple(bytes(viewer.stream[start:end]) for start, end in parts), viewer.decoder.pixels, began, loops)


@contextmanager
def _screen() -> Generator[Screen]:
    with asyncio.Runner() as runner, tempfile.TemporaryDirectory(prefix="bench-") as folder:
        screen = make_screen(
            ScreenOptions(WIDTH, HEIGHT, free_port(), "127.0.0.1", None, "xvfb", Path(folder) / "screen", "recorded")
        )
        runner.run(screen.start())
        try:
            yield screen
        finally:
            runner.run(screen.stop())


def _arcade(index: int) -> Picture:
    chance = np.random.default_rng(1)
    palette = chance.integers(0, 256, (COLOURS, 3), np.uint8)
    rows, columns = np.arange(HEIGHT)[:, None] // 32, (np.arange(WIDTH)[None, :] + SPEED * index) // 32
    ground = ((rows + columns) % 2).astype(np.uint8)
    for _ in range(SPRITES):
        side = int(chance.choice(SPRITE_SIDES))
        # Four by four blocks of colours, as large as it is.
        body = chance.integers(2, COLOURS, (4, 4), np.uint8).repeat(side // 4, axis=0).repeat(side // 4, axis=1)
        x, y, across, down = chance.integers(0, (WIDTH, HEIGHT, SPEED, SPEED))
        left, top = (x + across * index) % (WIDTH - side), (y + down * index) % (HEIGHT - side)
        ground[top : top + side, left : left + side] = body
    return palette[ground]
