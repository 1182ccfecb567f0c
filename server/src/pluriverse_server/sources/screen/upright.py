"""Straightens the ink of a line that is a little rotated and scaled. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .glyphs import STRONG

# The angles that are looked at, in degrees, and how much finer than pixels rows are told apart.
MAX_ANGLE: Final = 10
ANGLES: Final = np.arange(-MAX_ANGLE, MAX_ANGLE + 0.25, 0.5)
FINER: Final = 2

# A row of the line has at least this share of the ink of its fullest row; specks have less.
ROW_SHARE: Final = 0.12

# What the first guess is off by, if it is: in degrees, and in heights of the line at its top and bottom.
TURNS: Final = (0.0, -0.5, 0.5, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0)
EDGES: Final = ((0.0, 0.0), (0.04, 0.0), (0.0, 0.04), (-0.04, 0.0), (0.0, -0.04), (0.03, -0.03), (-0.03, 0.03))


def straightened(ink: NDArray[np.float32], height: int) -> Iterator[NDArray[np.float32]]:
    """Yield the line, from its top to its bottom, at this height: as it most likely is first. Nothing without ink."""
    y, x = np.nonzero(ink >= STRONG)
    if not len(x):
        return
    guess, image = _angle(x, y), Image.fromarray(ink)
    for turn in TURNS:
        angle = np.deg2rad(guess + turn)
        across, down = float(np.cos(angle)), float(np.sin(angle))
        top, bottom = _extent((y + 0.5) * across - (x + 0.5) * down)
        along = (x + 0.5) * across + (y + 0.5) * down
        left, right = float(along.min()) - 1, float(along.max()) + 1
        for above, below in EDGES:
            first, last = top + above * (bottom - top), bottom - below * (bottom - top)
            scale = (last - first) / height
            width = max(1, round((right - left) / scale))
            place = (
                *(scale * across, -scale * down, left * across - first * down),
                *(scale * down, scale * across, left * down + first * across),
            )
            yield np.asarray(
                image.transform((width, height), Image.Transform.AFFINE, place, Image.Resampling.BILINEAR), np.float32
            )


def height_of(ink: NDArray[np.float32]) -> float:
    """Return how high the line is; 0 without ink."""
    y, x = np.nonzero(ink >= STRONG)
    if not len(x):
        return 0.0
    angle = np.deg2rad(_angle(x, y))
    top, bottom = _extent((y + 0.5) * np.cos(angle) - (x + 0.5) * np.sin(angle))
    return bottom - top


def _angle(x: NDArray[np.intp], y: NDArray[np.intp]) -> float:
    """Return the angle along which the ink is most in rows, in degrees."""
    turned = np.deg2rad(ANGLES)[:, None]
    rows = (y * np.cos(turned) - x * np.sin(turned)) * FINER
    numbers = (rows - rows.min()).astype(np.intp)
    count = int(numbers.max()) + 1
    held = np.bincount((numbers + count * np.arange(len(ANGLES))[:, None]).reshape(-1), minlength=count * len(ANGLES))
    held = held.reshape(len(ANGLES), count)
    # Unturned pixels are all in every other of the finer rows, so neighbours are taken together.
    together = 2 * held
    together[:, 1:] += held[:, :-1]
    together[:, :-1] += held[:, 1:]
    sharp = np.square(together).sum(axis=1).astype(np.float64)
    # Of angles that are as good as each other, the smallest.
    return float(ANGLES[(sharp * (1 - 0.002 * np.abs(ANGLES))).argmax()])


def _extent(rows: NDArray[Any]) -> tuple[float, float]:
    """Return the top and the bottom of the rows that hold ink."""
    first = float(rows.min())
    held = np.bincount(((rows - first) + 0.5).astype(np.intp))
    full = np.flatnonzero(held >= ROW_SHARE * held.max())
    of_line = rows[(rows >= first + full[0] - 0.5) & (rows < first + full[-1] + 0.5)]
    return float(of_line.min()) - 0.5, float(of_line.max()) + 0.5
