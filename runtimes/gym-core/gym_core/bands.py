"""Finds the rows that changed between two frames, so that only those are drawn and sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Each band is a request to the X server and a rectangle of the VNC server; a few rows too many are cheaper.
LEAST_GAP: Final = 8

# Bytes of the largest integer that numpy compares as fast as any other.
WORD: Final = 8


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
