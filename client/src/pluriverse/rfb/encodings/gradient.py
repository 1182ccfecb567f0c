"""Tight's gradient filter: each byte is the difference to a guess from the pixels left, above, and above left.

A pixel needs its left neighbour first, so that rows can't be done at once; but all pixels of a diagonal can.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pluriverse.rfb.picture import Pixels

# Rows that are done together. More take fewer, longer steps; the diagonals of this many rows of the widest desktop
# take 26 MB for the moment.
BAND_ROWS: Final = 256


def undo_gradient(data: bytes, width: int, height: int) -> Pixels:
    """The pixels, RGB of shape (height, width, 3), that the filter made ``data`` of."""
    differences = np.frombuffer(data, np.uint8).reshape(height, width, 3)
    pixels = np.empty((height, width, 3), np.uint8)
    above = np.zeros((width, 3), np.uint8)
    for top in range(0, height if width else 0, BAND_ROWS):
        band = slice(top, top + BAND_ROWS)
        _undo_band(differences[band], above, pixels[band])
        above = pixels[band][-1]
    return pixels


def _undo_band(differences: Pixels, above: Pixels, out: Pixels) -> None:
    height, width, _ = differences.shape
    # diagonals[x + y + 2, y + 1] is pixel (x, y). The row before the first is what is above the band, and what lies
    # left of the first column is black, as the filter has it.
    diagonals = np.zeros((width + height + 1, height + 1, 3), np.int16)
    step, down, colour = diagonals.strides
    skewed = np.lib.stride_tricks.as_strided(diagonals[2:, 1:], (height, width, 3), (step + down, step, colour))
    skewed[...] = differences
    diagonals[1 : width + 1, 0] = above
    for index in range(2, width + height + 1):
        # Rows whose pixel of this diagonal lies within the rectangle.
        first, last = max(0, index - 1 - width), min(height, index - 1)
        guess = diagonals[index - 1, first:last] + diagonals[index - 1, first + 1 : last + 1]
        guess -= diagonals[index - 2, first:last]
        here = diagonals[index, first + 1 : last + 1]
        here += np.clip(guess, 0, 255, out=guess)
        here &= 255
    out[...] = skewed
