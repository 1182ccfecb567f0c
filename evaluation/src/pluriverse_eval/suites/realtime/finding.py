"""Finds things in pictures by their colours. Pure; points are (x, y) in pixels, boxes (left, top, right, bottom)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pluriverse.adapters.pictures import Pixels

Mask = NDArray[np.bool_]
Point = tuple[float, float]
Box = tuple[int, int, int, int]


def coloured(picture: Pixels, colour: tuple[int, int, int], tolerance: int = 0) -> Mask:
    """Return which pixels have a colour, up to ``tolerance`` in each channel."""
    mask = np.ones(picture.shape[:2], np.bool_)
    # Several times as fast as all channels at once.
    for channel, wanted in enumerate(colour):
        values = picture[..., channel]
        mask &= (values >= max(0, wanted - tolerance)) & (values <= min(255, wanted + tolerance))
    return mask


def middle(mask: Mask) -> Point | None:
    """Return the middle of all pixels, None if there are none."""
    ys, xs = np.nonzero(mask)
    return (float(xs.mean()), float(ys.mean())) if len(xs) else None


def runs(line: Mask) -> list[tuple[int, int]]:
    """Return where each run of set places of a line begins, and where it has ended."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(np.int8), [0]))))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def boxes(mask: Mask) -> list[Box]:
    """Return the boxes around things that an empty row or column parts, from left to right."""
    found: list[Box] = []
    for left, right in runs(np.asarray(mask.any(axis=0))):
        rows = runs(np.asarray(mask[:, left:right].any(axis=1)))
        if len(rows) == 1:
            found.append((left, rows[0][0], right, rows[0][1]))
            continue
        for top, bottom in rows:
            inner = boxes(mask[top:bottom, left:right])
            found += ((left + a, top + b, left + c, top + d) for a, b, c, d in inner)
    return found


def centre(box: Box) -> Point:
    """Return the middle of a box."""
    left, top, right, bottom = box
    return (left + right - 1) / 2, (top + bottom - 1) / 2


def reflected(at: float, low: float, high: float) -> float:
    """Return where something comes to that would come to ``at``, if it didn't bounce off both ends."""
    span = high - low
    folded = (at - low) % (2 * span)
    return low + min(folded, 2 * span - folded)


class Motion:
    """How a thing moves, by where it was seen last. One that is where it was is taken to be the same picture again."""

    def __init__(self) -> None:
        self._last: tuple[float, Point] | None = None
        self.speed: Point = (0.0, 0.0)
        """Pixels a millisecond, across and down."""

    def note(self, ms: float, at: Point | None) -> None:
        """Note where it is seen, if it is."""
        if at is not None and self._last is not None and at == self._last[1]:
            return
        if at is not None and self._last is not None and ms > self._last[0]:
            before, (x, y) = self._last
            self.speed = (at[0] - x) / (ms - before), (at[1] - y) / (ms - before)
        self._last = None if at is None else (ms, at)


class Patience:
    """Waits until what was done is seen, but not for ever: the time runs from the first look after it was done."""

    def __init__(self, ms: float) -> None:
        self._ms = ms
        self._before: NDArray[Any] | None = None
        self._until: float | None = None

    def waits(self, ms: float, shown: NDArray[Any]) -> bool:
        """Return whether to wait on; if not, something is taken to be done now."""
        if self._before is not None and np.array_equal(shown, self._before):
            self._until = ms + self._ms if self._until is None else self._until
            if ms < self._until:
                return True
        self._before, self._until = shown.copy(), None
        return False
