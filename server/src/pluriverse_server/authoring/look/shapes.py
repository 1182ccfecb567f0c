"""Finds dials and rows of icons in a region. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.colour import distances

Mask = NDArray[np.bool_]

# A dial is looked at in so many parts of its way; people begin dials at multiples of 15 degrees, or nearly so.
PARTS: Final = 120
MIN_PARTS: Final = PARTS // 4
SNAP: Final = 15
SNAPS_WITHIN: Final = 4

# What is smaller, in pixels, has no angles; what is longer than wide by more than this share isn't all of a dial.
MIN_RADIUS: Final = 6
ROUND: Final = 1.25

# Of the pixels of a colour so many per cent may lie nearer to the centre, or farther away, than its ring.
STRAY: Final = 2

# An icon has at least so many pixels each way, and those of a row differ by so few.
MIN_ICON: Final = 4
ALIKE: Final = 1


@dataclass(frozen=True, slots=True)
class Dial:
    """The keys of a dial's source: ``radius`` in pixels from the region's middle, ``angles`` from its beginning on."""

    colour: str
    empty: list[str]
    angles: list[float]
    radius: list[float]


def dials_of(pixels: Pixels, colours: Sequence[str], tolerance: int) -> Iterator[Dial]:
    """Yield for each of ``colours`` the dial around the middle that it may fill.

    If another colour fills the rest of its ring up to a gap, the way ends there; else it is all of a circle.
    """
    height, width = int(pixels.shape[0]), int(pixels.shape[1])
    reach = min(width, height) / 2
    if reach < MIN_RADIUS or max(width, height) > ROUND * min(width, height):
        return
    x, y = np.meshgrid(np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2)
    away, part = np.hypot(x, y), (np.degrees(np.arctan2(x, -y)) % 360 * PARTS / 360).astype(int)
    rings: dict[str, tuple[Mask, float, float]] = {}
    for colour in colours:
        mask = distances(pixels, [colour])[0] <= tolerance
        if mask.any():
            inner, outer = (float(radius) for radius in np.percentile(away[mask], (STRAY, 100 - STRAY)))
            # What reaches into the corners is the ground.
            if MIN_RADIUS <= outer <= reach + 1:
                rings[colour] = mask, inner if inner > outer / 4 else 0.0, outer
    for colour, (_, inner, outer) in rings.items():
        ring = (inner <= away) & (away <= outer)
        arcs = {other: _arc(part, ring, there) for other, (there, _, _) in rings.items()}
        filled = _run(arcs[colour])
        if filled is None:
            continue
        # Smoothed edges have a colour of their own, but no part of the way.
        empty = [other for other, arc in arcs.items() if other != colour and arc.any()]
        way = _run(np.logical_or.reduce(list(arcs.values()))) if empty else None
        if way is not None and way[1] - way[0] < MIN_PARTS:
            continue
        yield Dial(colour, empty, _angles(filled, way), [np.floor(inner).item(), np.ceil(outer).item()])


def icons_of(pixels: Pixels, tolerance: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the places of the first and the last icon of a row or column of icons that have one size."""
    sideways = pixels.shape[1] >= pixels.shape[0]
    edges = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])[:, :3]
    ground = np.median(edges, axis=0).astype(np.int16)
    drawn = (np.abs(pixels[..., :3].astype(np.int16) - ground) > tolerance).any(axis=2)
    if not sideways:
        drawn = drawn.T
    boxes: list[tuple[int, int, int, int]] = []
    for left, right in _runs(drawn.any(axis=0)):
        rows = np.flatnonzero(drawn[:, left:right].any(axis=1))
        boxes.append((left, int(rows[0]), right - left, int(rows[-1] - rows[0]) + 1))
    if not boxes or min(boxes[0][2:]) < MIN_ICON or 2 * boxes[0][2] > drawn.shape[1]:
        return
    # What ends at an edge of the region is a part of something larger, unless it was dragged around a whole row.
    if len(boxes) == 1 and (boxes[0][0] == 0 or boxes[0][0] + boxes[0][2] == drawn.shape[1]):
        return
    if any(abs(box[side] - boxes[0][side]) > ALIKE for box in boxes for side in (1, 2, 3)):
        return
    for x, y, width, height in dict.fromkeys((boxes[0], boxes[-1])):
        yield (x, y, width, height) if sideways else (y, x, height, width)


def _arc(part: NDArray[np.int_], ring: Mask, there: Mask) -> Mask:
    """Return of which parts of a ring most is there."""
    return 2 * np.bincount(part[ring & there], minlength=PARTS) > np.bincount(part[ring], minlength=PARTS)


def _angles(filled: tuple[int, int], way: tuple[int, int] | None) -> list[float]:
    """Return from where to where a dial is filled, in degrees: from that of its two ends that is the likelier."""
    first, last = filled
    if way is not None:
        begin, end = way
        # It is full from one of the way's ends on.
        clockwise = (first - begin) % PARTS <= (end - last) % PARTS
        return _turned(begin, end - begin) if clockwise else _turned(end, begin - end)
    clockwise = _off(first) <= _off(last)
    return _turned(first if clockwise else last, PARTS if clockwise else -PARTS)


def _turned(begin: int, parts: int) -> list[float]:
    return [_snapped(begin * 360 / PARTS) % 360, _snapped(begin * 360 / PARTS) % 360 + _snapped(parts * 360 / PARTS)]


def _snapped(angle: float) -> float:
    near = round(angle / SNAP) * SNAP
    return float(near) if abs(angle - near) <= SNAPS_WITHIN else angle


def _off(part: int) -> float:
    """Return how far, in degrees, a part is from a quarter of the circle."""
    return abs((part * 360 / PARTS + 45) % 90 - 45)


def _run(parts: Mask) -> tuple[int, int] | None:
    """Return where the only run of a circle's parts begins and ends, the end being larger; None if there isn't one."""
    begins = np.flatnonzero(parts & ~np.roll(parts, 1))
    if len(begins) != 1:
        return None
    begin = int(begins[0])
    return begin, begin + int(parts.sum())


def _runs(line: Mask) -> list[tuple[int, int]]:
    """Return where the runs of a line begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], line, [False])).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]
