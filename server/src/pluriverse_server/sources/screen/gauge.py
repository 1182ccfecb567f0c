"""How full a bar is: where, on its way, it stops being full. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels

from .colour import distances

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Shades:
    """The colours, ``#rrggbb``, of what is ``full`` and what is ``empty``; all others are of the one that has none."""

    full: Sequence[str]
    empty: Sequence[str]
    tolerance: int

    def masks(self, pixels: Pixels) -> tuple[Mask, Mask]:
        """Return which pixels are full, and which are empty: each of shape (height, width)."""
        full, empty = (
            distances(pixels, colours).min(axis=0) if colours else None for colours in (self.full, self.empty)
        )
        if full is None or empty is None:
            one = full if full is not None else empty
            assert one is not None
            near = one <= self.tolerance
            return (near, ~near) if full is not None else (~near, near)
        return (full <= self.tolerance) & (full <= empty), (empty <= self.tolerance) & (empty < full)


class BarReader:
    """Reads how full a bar is: where, along its direction, it stops being mostly full.

    Gaps, smoothed ends and letters on it do no harm as long as most of it is full, and little beyond it.
    """

    def __init__(self, shades: Shades, direction: Literal["right", "left", "up", "down"]) -> None:
        self._shades = shades
        self._across = 0 if direction in ("right", "left") else 1
        self._backwards = direction in ("left", "up")

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return the full share, 0 to 1, and a confidence that falls to 0 when half of the bar contradicts it."""
        full, empty = (mask.mean(axis=self._across) for mask in self._shades.masks(pixels))
        known = full + empty >= 0.5
        filled, blank = known & (full >= empty), known & (full < empty)
        if self._backwards:
            filled, blank = filled[::-1], blank[::-1]
        end, confidence = _end(filled, blank)
        return end / len(filled), confidence


def _end(filled: Mask, blank: Mask) -> tuple[int, float]:
    """Return how many of the first are full if the others are empty, and a confidence; what is neither lessens it."""
    # The contradictions for each possible end: what is empty before it, and what is full after it.
    empty_before = np.concatenate(([0], np.cumsum(blank)))
    full_after = filled.sum() - np.concatenate(([0], np.cumsum(filled)))
    against = empty_before + full_after
    end = int(against.argmin())
    unknown = len(filled) - int(filled.sum()) - int(blank.sum())
    return end, max(0.0, 1.0 - 2.0 * (float(against[end]) + unknown) / len(filled))
