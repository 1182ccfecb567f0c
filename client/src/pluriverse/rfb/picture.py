"""Pictures made of a screen while it is decoded: a part of it, smaller or larger, in grey.

To the last bit as the native decoder makes it (protocol/native/rfb_picture.c).
"""

from __future__ import annotations

from math import gcd
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.rfb.geometry import Region

Pixels = NDArray[np.uint8]

# Luma of red, green and blue in 256ths (ITU-R BT.601).
LUMA: Final = np.array([77, 150, 29], np.uint16)


class PictureSpec(NamedTuple):
    """The part, size and colours of a picture.

    ``crop``: this part of the screen, black where it lies beyond; None: all of it. ``size``: area means of it, scaled
    to (height, width) pixels. ``scale``, instead of a size: each pixel is the mean of scale x scale, and what is left
    over at the right and at the bottom is cut off. ``grey``: one channel, the luma of ITU-R BT.601. ``block``: pixels
    that are kept beside the picture, in RGB as they are on the screen.
    """

    crop: Region | None = None
    size: tuple[int, int] | None = None
    scale: int = 1
    grey: bool = False
    block: Region | None = None


class Picture:
    """Follows a screen. ``pixels`` is uint8, (height, width, 3) of RGB or (height, width, 1)."""

    def __init__(self, spec: PictureSpec, screen: Pixels) -> None:
        """``screen`` is RGB, (height, width, 3), all black."""
        self.spec = spec
        self._screen = screen
        height, width = screen.shape[:2]
        crop = spec.crop or Region(0, 0, width, height)
        down, shown_height = _fit(crop.height, spec.size and spec.size[0], spec.scale)
        across, shown_width = _fit(crop.width, spec.size and spec.size[1], spec.scale)
        self._crop = Region(crop.x, crop.y, shown_width, shown_height)
        self.luma: Pixels | None = np.zeros((height, width, 1), np.uint8) if spec.grey else None
        self._source = screen if self.luma is None else self.luma
        self._is_part = (down, across) == (shown_height, shown_width) and _inside(self._crop, screen)
        if self._is_part:
            self.pixels = self._source[crop.y : crop.y + down, crop.x : crop.x + across]
        else:
            self.pixels = np.zeros((down, across, self._source.shape[2]), np.uint8)

    def update(self, r: Region, *, in_luma: bool = False) -> None:
        """Take over what was painted on the screen or, ``in_luma``, on ``luma``."""
        part = r.overlap(self._crop)
        if part.width == 0 or part.height == 0:
            return
        if self.luma is not None and not in_luma:
            area = np.s_[part.y : part.y + part.height, part.x : part.x + part.width]
            self.luma[area] = luma_of(self._screen[area])
        if not self._is_part:
            x, y, width, height = self._crop
            rows = _touched(part.y - y, part.height, height, len(self.pixels))
            columns = _touched(part.x - x, part.width, width, self.pixels.shape[1])
            self.pixels[rows, columns] = average(cut(self._source, self._crop), self.pixels.shape[:2], rows, columns)

    def block(self) -> bytes | None:
        """The block's pixels, RGB; None if there is no block."""
        return cut(self._screen, self.spec.block).tobytes() if self.spec.block is not None else None


def make_picture(screen: Pixels, spec: PictureSpec) -> Pixels:
    """What ``spec`` asks of a screen, RGB of shape (height, width, 3); it may be a part of that."""
    picture = Picture(spec, screen)
    picture.update(Region(0, 0, screen.shape[1], screen.shape[0]))
    return picture.pixels


def luma_of(rgb: Pixels) -> Pixels:
    # One colour at a time is three times as quick as a product of matrices, which numpy does slowly in whole numbers.
    red, green, blue = (rgb[..., channel] * weight for channel, weight in enumerate(LUMA))
    return ((red + green + blue + 128) >> 8).astype(np.uint8)[..., np.newaxis]


def cut(screen: Pixels, r: Region) -> Pixels:
    """A part of a screen, black beyond its edges."""
    part = screen[r.y : r.y + r.height, r.x : r.x + r.width]
    if part.shape[:2] == (r.height, r.width):
        return part
    whole = np.zeros((r.height, r.width, screen.shape[2]), np.uint8)
    whole[: part.shape[0], : part.shape[1]] = part
    return whole


def average(source: Pixels, size: tuple[int, int], rows: slice = slice(None), columns: slice = slice(None)) -> Pixels:
    """Area means of (height, width, channels), scaled to ``size``; of the result just these rows and columns."""
    height, width, channels = source.shape
    if height % size[0] == 0 and width % size[1] == 0:
        return _box_means(source, height // size[0], width // size[1], rows, columns)
    down, down_area = _weights(height, size[0], rows)
    across, across_area = _weights(width, size[1], columns)
    top, bottom = _used(down)
    left, right = _used(across)
    part = source[top:bottom, left:right]
    # Whole numbers below 2**53 are exact in floating point, for which matrices are multiplied many times as fast.
    sums = down[:, top:bottom] @ part.reshape(bottom - top, -1).astype(np.float64)
    sums = across[:, left:right] @ sums.reshape(len(down), right - left, channels)
    area = down_area * across_area
    return ((sums.astype(np.int64) + area // 2) // area).astype(np.uint8)


def _box_means(source: Pixels, down: int, across: int, rows: slice, columns: slice) -> Pixels:
    """Means of whole pixels, ``down`` by ``across`` of them each."""
    squares = source.reshape(source.shape[0] // down, down, source.shape[1] // across, across, source.shape[2])
    parts = squares[rows, :, columns].sum(axis=1, dtype=np.uint32)
    # Column by column, for sums along a row's few pixels are ten times as slow.
    sums = parts[:, :, 0].copy()
    for column in range(1, across):
        sums += parts[:, :, column]
    return ((sums + down * across // 2) // (down * across)).astype(np.uint8)


def _weights(length: int, pixels: int, wanted: slice) -> tuple[NDArray[np.float64], int]:
    """How much of each of ``length`` pixels each of the wanted ones of ``pixels`` gets; each gets as much in all."""
    unit = gcd(length, pixels)
    theirs, ours = pixels // unit, length // unit
    begin = np.arange(pixels)[wanted, np.newaxis] * ours
    edges = np.arange(length) * theirs
    parts = np.minimum(begin + ours, edges + theirs) - np.maximum(begin, edges)
    return parts.clip(0).astype(np.float64), ours


def _used(weights: NDArray[np.float64]) -> tuple[int, int]:
    used = np.flatnonzero(weights.any(axis=0))
    return int(used[0]), int(used[-1]) + 1


def _touched(at: int, size: int, length: int, pixels: int) -> slice:
    """The pixels of the picture that have anything of ``size`` of the ``length`` pixels that it shows."""
    return slice(at * pixels // length, -(-(at + size) * pixels // length))


def _fit(length: int, wanted: int | None, scale: int) -> tuple[int, int]:
    """How many pixels the picture has, and of how many of the ``length`` pixels they are."""
    if wanted:
        return wanted, length
    pixels = max(1, length // scale)
    return pixels, min(length, pixels * scale)


def _inside(r: Region, screen: Pixels) -> bool:
    return r.y + r.height <= screen.shape[0] and r.x + r.width <= screen.shape[1]
