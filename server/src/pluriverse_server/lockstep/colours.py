"""What has changed on an X screen, and its colours in the order of agents; in C where the preloaded clock is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .clock import NoClock, library


def take_changes(pixels: NDArray[np.uint8], seen: NDArray[np.uint8]) -> Sequence[tuple[int, int]]:
    """Write ``pixels`` over ``seen``, both of shape (height, width, 4); return which rows of it may have changed.

    They are in runs: the first row of each, and how many they are. ``seen`` is contiguous.
    """
    height = len(seen)
    try:
        compare = library().lockstep_changes
    except NoClock:
        seen[:] = pixels
        return [(0, height)]
    runs = np.empty((height, 2), np.int32)
    count = compare(pixels.ctypes.data, pixels.strides[0], seen.strides[0], height, seen.ctypes.data, runs.ctypes.data)
    return [(first, rows) for first, rows in runs[:count].tolist()]


def to_rgb(pixels: NDArray[np.uint8], to: NDArray[np.uint8]) -> None:
    """Write ``pixels``, of shape (height, width, 4) as X has them, to ``to``: shape (height, width, 3), contiguous."""
    height, width = to.shape[:2]
    try:
        convert = library().lockstep_rgb
    except NoClock:
        # A channel at a time takes a quarter of the time.
        for channel in range(3):
            to[..., channel] = pixels[..., 2 - channel]
        return
    convert(pixels.ctypes.data, pixels.strides[0], width, height, to.ctypes.data)
