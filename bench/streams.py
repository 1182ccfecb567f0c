"""TigerVNC's own streams of full-motion content, recorded on demand and cut at its updates."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from desktops import HEIGHT, WIDTH
from pluriverse.vnc import VncOptions
from pluriverse_protocol.rfb.numbers import Encoding
from pluriverse_protocol.rfb.preferences import EXTENSIONS, preferred_encodings
from pluriverse_server.display import Screen, make_screen
from support.remotes import on_machine
from support.rfb_streams import Picture, Viewer, easel, photo, screen_options

# A message's head and a rectangle's; then come Tight's own bits, of which the low four begin zlib's streams anew.
FIRST_TIGHT_OCTET: Final = 4 + 12
FRESH_ZLIB: Final = 0x0F

PIXELS: Final = WIDTH * HEIGHT

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
        screen = make_screen(screen_options(Path(folder), width=WIDTH, height=HEIGHT))
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
