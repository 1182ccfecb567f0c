"""How much of a region has a colour or has changed, and how full a bar is."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels


class ColourReader:
    """Reads the share of a region's pixels that have a colour."""

    def __init__(self, colour: str, tolerance: int) -> None:
        """``colour`` is ``#rrggbb``; ``tolerance``: by how much each channel may differ."""
        bgr = bytes.fromhex(colour.removeprefix("#"))[::-1]
        self._low = [np.uint8(max(0, channel - tolerance)) for channel in bgr]
        self._high = [np.uint8(min(255, channel + tolerance)) for channel in bgr]

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return the share, 0 to 1, and 1.0."""
        return float(self.mask(pixels).mean()), 1.0

    def mask(self, pixels: Pixels) -> NDArray[np.bool_]:
        """Return which pixels have the colour: shape (height, width)."""
        mask = np.ones(pixels.shape[:2], np.bool_)
        for channel, (low, high) in enumerate(zip(self._low, self._high, strict=True)):
            mask &= (pixels[..., channel] >= low) & (pixels[..., channel] <= high)
        return mask


class BarReader:
    """Reads how full a bar is: where, along its direction, it stops being mostly of its colour.

    Gaps, smoothed ends and letters on it do no harm as long as most of it, and little beyond it, has the colour.
    """

    def __init__(self, colour: str, tolerance: int, direction: Literal["right", "left", "up", "down"]) -> None:
        self._colour = ColourReader(colour, tolerance)
        self._across = 0 if direction in ("right", "left") else 1
        self._backwards = direction in ("left", "up")

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return the full share, 0 to 1, and a confidence that falls to 0 when half of the bar contradicts it."""
        filled = self._colour.mask(pixels).mean(axis=self._across) >= 0.5
        if self._backwards:
            filled = filled[::-1]
        # The contradictions for each possible end: what is empty before it, and what is filled after it.
        empty_before = np.concatenate(([0], np.cumsum(~filled)))
        filled_after = filled.sum() - np.concatenate(([0], np.cumsum(filled)))
        against = empty_before + filled_after
        end = int(against.argmin())
        return end / len(filled), max(0.0, 1.0 - 2.0 * float(against[end]) / len(filled))


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
