"""Smaller and grey frames, to the last bit as the native driver makes them (client/native/frames.c)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

# Luma of red, green and blue in 256ths (ITU-R BT.601).
LUMA: Final = np.array([77, 150, 29], np.uint16)


def view_of(screen: Pixels, *, scale: int, grey: bool) -> Pixels:
    """A read-only copy of RGB (height, width, 3): each pixel the mean of scale x scale; grey is one channel."""
    picture = screen if scale == 1 else _means(screen, scale)
    picture = _luma(picture) if grey else picture.copy() if picture is screen else picture
    picture.flags.writeable = False
    return picture


def _means(screen: Pixels, scale: int) -> Pixels:
    # A screen that is smaller than one square is one pixel.
    down, across = min(scale, screen.shape[0]), min(scale, screen.shape[1])
    height, width = screen.shape[0] // down, screen.shape[1] // across
    if down < scale:
        height = 1
    if across < scale:
        width = 1
    whole = screen[: height * down, : width * across].reshape(height, down, width, across, 3)
    count = down * across
    return ((whole.sum(axis=(1, 3), dtype=np.uint32) + count // 2) // count).astype(np.uint8)


def _luma(picture: Pixels) -> Pixels:
    return ((picture.astype(np.uint16) @ LUMA + 128) >> 8).astype(np.uint8)[..., np.newaxis]
