"""What changed between two frames, so that only that is drawn: what isn't drawn costs no server anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Every band is a request and a rectangle for the X and the VNC server; a few rows too many are cheaper than another.
LEAST_GAP: Final = 8

# Bytes of the largest integer that numpy compares as fast as any other.
WORD: Final = 8


def changed_bands(previous: NDArray[np.uint8], current: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """The bands of rows, as (top, bottom) with ``bottom`` excluded, outside which the two frames are the same.

    Both frames have the shape (height, width) or (height, width, channels). The bands go from the top down, begin and
    end with a row that changed, and are at least ``LEAST_GAP`` rows apart; none where nothing changed.
    """
    # A byte a row, 0 or 1: searching those halves what this function takes, beside the numpy calls for it.
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
    """The frame's rows, in words where they are whole words: that compares in less than half the time."""
    rows = np.ascontiguousarray(frame).reshape(len(frame), -1)
    return rows.view(np.uint64) if rows.shape[1] % WORD == 0 else rows
