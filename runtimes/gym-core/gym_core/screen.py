"""The screen: the game at the top-left corner, the metadata block at the right, black everywhere else."""

from __future__ import annotations

import time
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_server.kit import MetadataBlock, Region, Window

from .environment import Environment

WIDTH: Final = 1024
HEIGHT: Final = 768

# Beyond the widest picture, with plain ground around it; runtime.toml says the same.
BLOCK_X: Final = 960
BLOCK_Y: Final = 16

# Each band is a request to the X server and a rectangle of the VNC server; a few rows too many are cheaper.
LEAST_GAP: Final = 8

# Bytes of the largest integer that numpy compares as fast as any other.
WORD: Final = 8


class Screen:
    """The window with the regions of the game and the block; ``close`` frees all of them."""

    def __init__(self) -> None:
        self.window = Window(WIDTH, HEIGHT, title="gym-core")
        self.block = MetadataBlock(self.window, BLOCK_X, BLOCK_Y)
        self._region: Region | None = None
        # What the region shows, as the environment had it; None: nothing of this episode.
        self._shown: NDArray[np.uint8] | None = None

    def fit(self, width: int, height: int) -> None:
        """Prepare for pictures of this size; the next one is drawn whole.

        If the size has changed, the window is cleared.
        """
        self._shown = None
        if self._region is not None:
            if (self._region.width, self._region.height) == (width, height):
                return
            self._region.close()
            self.window.clear()
        self._region = self.window.image(0, 0, width, height)
        self._picture = np.frombuffer(self._region.memory, np.uint8).reshape(height, width, 4)

    def show(self, environment: Environment) -> float:
        """Draw the changes of the environment's frame, and the block; return the painted clock in UNIX seconds."""
        assert self._region is not None
        bands = self._draw(environment)
        now = time.time()
        self.block.stamp(now)
        # The block last, so that a new clock is never on screen before its frame.
        self.window.put(*(self._region.band(*band) for band in bands), self.block.region)
        return now

    def show_picture(self, rgb: NDArray[np.uint8]) -> None:
        """Draw what the environment has no frame of, with the block."""
        assert self._region is not None
        self._picture[..., :3] = rgb[..., ::-1]
        self._shown = None
        self.block.stamp(time.time())
        self.window.put(self._region, self.block.region)

    def stamp(self) -> float:
        now = time.time()
        self.block.stamp(now)
        self.window.put(self.block.region)
        return now

    def close(self) -> None:
        self.window.close()

    def _draw(self, environment: Environment) -> list[tuple[int, int]]:
        """Write the changes into the region; return the bands of rows that changed."""
        frame = environment.frame()
        if self._shown is None:
            bands = [(0, len(frame))]
            self._shown = frame.copy()
        else:
            bands = changed_bands(self._shown, frame)
        for top, bottom in bands:
            environment.draw(self._picture, top, bottom)
            self._shown[top:bottom] = frame[top:bottom]
        return bands


def changed_bands(previous: NDArray[np.uint8], current: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Return the bands of rows that differ, as (top, bottom) with ``bottom`` excluded.

    Both frames have the shape (height, width) or (height, width, channels). The bands go from the top down, begin and
    end with a row that changed, and are at least ``LEAST_GAP`` rows apart; none where nothing changed.
    """
    # Searching a byte string, a byte a row, is twice as fast as numpy's calls for it.
    changed = (_rows(previous) != _rows(current)).any(axis=1).tobytes()
    bands: list[tuple[int, int]] = []
    top = changed.find(1)
    while top >= 0:
        bottom = changed.find(bytes(LEAST_GAP), top)
        if bottom < 0:
            bottom = changed.rfind(1) + 1
        bands.append((top, bottom))
        top = changed.find(1, bottom)
    return bands


def _rows(frame: NDArray[np.uint8]) -> NDArray[np.unsignedinteger]:
    """Return the rows as 64-bit words if they fit: that compares in less than half the time."""
    rows = np.ascontiguousarray(frame).reshape(len(frame), -1)
    return rows.view(np.uint64) if rows.shape[1] % WORD == 0 else rows
