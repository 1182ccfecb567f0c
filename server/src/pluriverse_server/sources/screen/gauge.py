"""How full a bar or a dial is: where, on its way, it stops being full. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels, SourceError

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


class DialReader:
    """Reads how full a dial is: at which angle it stops being full."""

    def __init__(
        self,
        shades: Shades,
        size: tuple[int, int],
        centre: tuple[float, float],
        radius: tuple[float, float],
        angles: tuple[float, float],
    ) -> None:
        """``size`` is the region's width and height, and ``centre`` is within the region; lengths are in pixels.

        ``angles`` are degrees clockwise from the top, where the dial begins and where it ends.
        """
        self._shades = shades
        x, y = np.meshgrid(np.arange(size[0]) + 0.5 - centre[0], np.arange(size[1]) + 0.5 - centre[1])
        begin, way = angles[0], angles[1] - angles[0]
        turned = np.degrees(np.arctan2(x, -y)) - begin
        along = (turned if way > 0 else -turned) % 360 / abs(way)
        away = np.hypot(x, y)
        on_dial = (radius[0] <= away) & (away <= radius[1]) & (along <= 1)
        if not on_dial.any():
            raise ValueError(f"the dial has no pixel within its region of {size[0]}x{size[1]} pixels")
        order = np.argsort(along[on_dial], kind="stable")
        # The pixels of the dial in their order on its way, and how far along each of them is.
        self._places = np.flatnonzero(on_dial)[order]
        self._along = along.flat[self._places]

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return the full share, 0 to 1, and a confidence that falls to 0 when half of the dial contradicts it."""
        filled, blank = (mask.ravel()[self._places] for mask in self._shades.masks(pixels))
        end, confidence = _end(filled, blank)
        if end in (0, len(filled)):
            return float(end > 0), confidence
        return float(self._along[end - 1 : end + 1].mean()), confidence


def make_dial(
    name: str,
    shades: Shades,
    region: Sequence[int],
    centre: Sequence[float] | None,
    radius: Sequence[float] | None,
    angles: Sequence[float],
) -> DialReader:
    """Make the dial of source ``name`` in a ``region`` of the screen; raise SourceError if it isn't in there."""
    x, y, width, height = region
    middle = (centre[0] - x, centre[1] - y) if centre is not None else (width / 2, height / 2)
    reach = (radius[0], radius[1]) if radius is not None else (0.0, min(width, height) / 2)
    try:
        return DialReader(shades, (width, height), middle, reach, (angles[0], angles[1]))
    except ValueError as error:
        raise SourceError(
            f"{name}: {error}; move its centre, which is a point of the screen, or change radius"
        ) from None


def _end(filled: Mask, blank: Mask) -> tuple[int, float]:
    """Return how many of the first are full if the others are empty, and a confidence; what is neither lessens it."""
    # The contradictions for each possible end: what is empty before it, and what is full after it.
    empty_before = np.concatenate(([0], np.cumsum(blank)))
    full_after = filled.sum() - np.concatenate(([0], np.cumsum(filled)))
    against = empty_before + full_after
    end = int(against.argmin())
    unknown = len(filled) - int(filled.sum()) - int(blank.sum())
    return end, max(0.0, 1.0 - 2.0 * (float(against[end]) + unknown) / len(filled))
