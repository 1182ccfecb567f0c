"""What TigerVNC really sends: a viewer that keeps the bytes, the pictures that are drawn for it, and recordings.

Make the recordings anew with ``PYTHONPATH=tests python -m support.rfb_streams`` and look at what changed.
"""

from __future__ import annotations

import asyncio
import socket
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from pluriverse.rfb import events
from pluriverse.rfb.decoder import Decoder, Region
from pluriverse.rfb.python_decoder import PythonDecoder
from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.numbers import FenceFlag
from pluriverse_protocol.rfb.preferences import preferred_encodings
from pluriverse_server.access.keyring import Keyring
from pluriverse_server.display import Screen, ScreenOptions, make_screen
from pluriverse_server.x11.connection import open_display
from Xlib import X

Picture = NDArray[np.uint8]

STREAMS: Final = Path(__file__).parent.parent / "client" / "rfb" / "streams"

# A server that says nothing for this long while something is waited for is broken.
SILENCE_S: Final = 60.0

# Rows that fit into one request of X, which holds 256 KiB, of the widest screen that is drawn here.
ROWS_A_REQUEST: Final = 32

# With this, no pixel of a picture that went through JPEG at high quality differs by more; another block of the
# picture, or one that was not painted, differs by far more.
LOSSY_BLOCK_ERROR: Final = 12.0
BLOCK: Final = 16

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
        decoder: type[Decoder] = PythonDecoder,
        regions: Sequence[Region] | None = None,
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
        self.decoder = decoder(self.desktop.width, self.desktop.height, regions=regions)
        self.events: list[events.Event] = []
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

    def update_until(self, condition: Callable[[], bool]) -> None:
        """Ask for updates until the condition holds.

        Raises:
            TimeoutError: the server fell silent, or it still doesn't hold after SILENCE_S.
        """
        deadline = time.monotonic() + SILENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"what was waited for did not appear within {SILENCE_S} s")
            self.update()

    def _take(self, data: bytes) -> None:
        self.stream += data
        happened = self.decoder.feed(data)
        self.events += happened
        for event in happened:
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

    def copy(self, x: int, y: int, width: int, height: int, to_x: int, to_y: int) -> None:
        """Copy a part of the screen to (to_x, to_y)."""
        self._root.copy_area(self._context, self._root, x, y, width, height, to_x, to_y)
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


def block_errors(picture: Picture, other: Picture) -> NDArray[np.float64]:
    """The mean difference of each block of 16x16 pixels, in steps of 0 to 255."""
    height, width = (side // BLOCK * BLOCK for side in picture.shape[:2])
    difference = np.abs(picture[:height, :width].astype(np.int16) - other[:height, :width])
    return difference.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3).mean(axis=(1, 3, 4))


def looks_like(picture: Picture, other: Picture) -> bool:
    """Whether one may be the other after JPEG."""
    return picture.shape == other.shape and bool(block_errors(picture, other).max() < LOSSY_BLOCK_ERROR)


@dataclass(frozen=True)
class Recording:
    """A stream after ServerInit on a desktop of this size, and the picture that it ends with."""

    width: int
    height: int
    stream: bytes
    picture: Picture
    lossy: bool

    def save(self, path: Path) -> None:
        """Write it to a file."""
        np.savez_compressed(
            path,
            size=np.array([self.width, self.height]),
            stream=np.frombuffer(self.stream, np.uint8),
            picture=self.picture,
            lossy=np.array(self.lossy),
        )

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read it from a file."""
        with np.load(path) as file:
            width, height = file["size"].tolist()
            return cls(width, height, file["stream"].tobytes(), file["picture"], bool(file["lossy"]))


@dataclass(frozen=True)
class Script:
    """What to record: the encodings to ask for, and on which kind of screen."""

    encodings: tuple[int, ...]
    lossy: bool = False
    backend: str = "xvfb"


SCRIPTS: Final = {
    "raw": Script(tuple(preferred_encodings(encodings=["raw"]))),
    "hextile": Script(tuple(preferred_encodings(encodings=["hextile"]))),
    "zrle": Script(tuple(preferred_encodings(encodings=["zrle"]))),
    "tight-lossless": Script(tuple(preferred_encodings(encodings=["tight"], compress_level=2))),
    "tight-quality-9": Script(tuple(preferred_encodings(encodings=["tight"], quality=9)), lossy=True),
    "tight-fine-95-420": Script(
        tuple(preferred_encodings(encodings=["tight"], fine_quality=95, subsampling="4:2:0")), lossy=True
    ),
    "copyrect": Script(tuple(preferred_encodings(encodings=["copyrect", "tight"])), backend="xvnc"),
}


async def record(screen: Screen, script: Script) -> Recording:
    """Draw one picture after the other, of all kinds, and keep what the server sends of them."""
    return await asyncio.to_thread(_record, screen, script)


def _record(screen: Screen, script: Script) -> Recording:
    width, height = screen.options.width, screen.options.height
    matches = looks_like if script.lossy else np.array_equal
    with easel(screen) as artist, Viewer(screen.options.vnc_port, encodings=script.encodings) as viewer:
        shown = np.zeros((height, width, 3), np.uint8)

        def draw(picture: Picture, x: int, y: int) -> None:
            shown[y : y + picture.shape[0], x : x + picture.shape[1]] = picture
            artist.draw(picture, x, y)
            viewer.update_until(lambda: bool(matches(viewer.decoder.framebuffer, shown)))

        viewer.update(incremental=False)
        draw(sprites(width, height, 1), 0, 0)
        draw(photo(width // 2, height // 2), 5, 7)
        draw(writing(67, 41), width // 2, height // 2)
        draw(sprites(80, 60, 2, colours=3), 10, height // 2)
        draw(np.full((50, 50, 3), (10, 200, 30), np.uint8), width - 51, 3)
        draw(sprites(90, 50, 3, colours=120), 40, 20)
        if script.backend == "xvnc":
            shown[60:120, 90:150] = shown[5:65, 8:68].copy()
            artist.copy(8, 5, 60, 60, 90, 60)
            viewer.update_until(lambda: bool(matches(viewer.decoder.framebuffer, shown)))
        return Recording(width, height, bytes(viewer.stream), viewer.decoder.framebuffer.copy(), script.lossy)


def screen_options(
    folder: Path, *, width: int = WIDTH, height: int = HEIGHT, keyring: Keyring | None = None, backend: str = "xvfb"
) -> ScreenOptions:
    """A screen on a free port of this machine's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert backend in ("xvfb", "xvnc")
    return ScreenOptions(width, height, port, "127.0.0.1", keyring, backend, folder / "screen", "recorded")


async def main() -> None:
    """Make all recordings anew."""
    for name, script in SCRIPTS.items():
        with tempfile.TemporaryDirectory() as folder:
            screen = make_screen(screen_options(Path(folder), backend=script.backend))
            await screen.start()
            try:
                recording = await record(screen, script)
            finally:
                await screen.stop()
        STREAMS.mkdir(exist_ok=True)
        recording.save(STREAMS / f"{name}.npz")
        print(f"{name}: {len(recording.stream)} bytes")


if __name__ == "__main__":
    asyncio.run(main())
