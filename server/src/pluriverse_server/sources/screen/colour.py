"""How much of a region has a colour or has changed, and which colour a point has. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels

# A named colour is sure that is at most 0.6 times as far away as the next: there the confidence is 0.8.
SURE: Final = 2.0


def distances(pixels: Pixels, colours: Sequence[str]) -> NDArray[np.uint8]:
    """Return how far each pixel is from each colour, ``#rrggbb``: shape (colours, height, width).

    That is the largest difference of a channel.
    """
    bgr = np.array([list(bytes.fromhex(colour.removeprefix("#")))[::-1] for colour in colours], np.uint8)
    # Channel by channel, which takes a quarter of the time of all in one array.
    away = np.zeros((len(colours), *pixels.shape[:2]), np.uint8)
    for index, colour in enumerate(bgr):
        for channel, level in enumerate(colour):
            values = pixels[..., channel]
            np.maximum(away[index], np.maximum(values, level) - np.minimum(values, level), out=away[index])
    return away


class ColourReader:
    def __init__(self, colours: Sequence[str], tolerance: int) -> None:
        """``colours`` are ``#rrggbb``; ``tolerance``: by how much each channel may differ."""
        self._colours, self._tolerance = colours, tolerance

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        return float(self.mask(pixels).mean()), 1.0

    def mask(self, pixels: Pixels) -> NDArray[np.bool_]:
        return distances(pixels, self._colours).min(axis=0) <= self._tolerance


class PixelReader:
    def __init__(self, colours: Mapping[str, str], tolerance: int) -> None:
        self._names, self._colours, self._tolerance = list(colours), list(colours.values()), tolerance

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return the nearest colour's name, None if none is near, and a confidence: 0 if another is as near."""
        away = distances(pixels[:1, :1], self._colours).ravel()
        nearest, *others = sorted(int(level) for level in away)
        if nearest > self._tolerance:
            return None, 1.0
        second = others[0] if others else 255
        return self._names[int(away.argmin())], min(1.0, SURE * (1 - nearest / max(second, 1)))


class ChangeReader:
    """Reads the share of a region's pixels that differ from the previous frame, which it keeps."""

    def __init__(self, tolerance: int) -> None:
        """``tolerance``: by how much each channel may differ."""
        self._tolerance = tolerance
        self._before: Pixels | None = None

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return the share, 0 to 1, and 1.0; None for the first frame, and for one of another size."""
        before, self._before = self._before, pixels.copy()
        if before is None or before.shape != pixels.shape:
            return None, 1.0
        colours, earlier = pixels[..., :3], before[..., :3]
        apart = np.maximum(colours, earlier) - np.minimum(colours, earlier)
        return float((apart > self._tolerance).any(axis=2).mean()), 1.0
