"""Parts glyphs that touch or overlap, in labelled lines. Pure.

How wide lines are tells how far each character's next one is, by least squares. What is the same wherever a character
should be is its picture, at first roughly; then glyphs are moved to where they explain their line best, and pictures
are averaged anew, without what neighbours cover of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.screen.glyphs import STRONG

from .cutting import Piece

Plane = NDArray[np.float32]

# How far a line's width may be from what its characters say, in columns.
MAX_OFF: Final = 3.0

# Lines that are further off are as bad as these.
WIDE_OFF: Final = 20.0

# How much further than its advance a glyph may reach, and how far it is moved at most each round.
PAD: Final = 4
MOVES: Final = (0, -1, 1, -2, 2)
ROUNDS: Final = 5

# The least ink in the same place of so many of a character's first pictures is its own; the rest may be neighbours'.
OWN: Final = 0.3

# The most that pictures may leave unexplained of a line that was parted well.
MAX_LEFT: Final = 0.12

# A glyph counts where its neighbours leave it at least so much.
FREE: Final = 0.5

# How much less likely an unusual width at the ends of a line is than one between characters.
RIDGE: Final = 0.3


def widths_off(inks: Sequence[Plane], labels: Sequence[str]) -> float:
    """Return how far the lines' widths are from what their characters say, in columns; infinity if they say nothing."""
    shown = _extents(inks, labels)
    if len(shown) < 2:
        return float("inf")
    _, off = _advances(shown, labels)
    return float(np.minimum(np.abs(list(off.values())), WIDE_OFF).mean())


def part(inks: Sequence[Plane], labels: Sequence[str], rounds: int = ROUNDS) -> tuple[tuple[Piece, ...] | None, ...]:
    """Return the pieces of each line, as if each glyph stood alone; None if it isn't explained by them."""
    shown = _extents(inks, labels)
    if len(shown) < 2:
        return tuple(None for _ in inks)
    advances, off = _advances(shown, labels)
    reach = round(max(advances.values())) + 2 * PAD
    planes = {index: np.pad(inks[index], ((0, 0), (reach, 2 * reach))) for index in shown}
    places: dict[int, list[int]] = {}
    for index, (left, _) in shown.items():
        if abs(off[index]) <= MAX_OFF:
            steps = np.cumsum([0.0, *(advances[letter] for letter in labels[index][:-1])])
            places[index] = [reach + left - PAD + round(float(step)) for step in steps]
    if not places:
        return tuple(None for _ in inks)
    pictures = _first_pictures(planes, places, labels, reach)
    for _ in range(rounds):
        for index, xs in places.items():
            _move(planes[index], xs, labels[index], pictures)
        pictures = _averaged(planes, places, labels, pictures)
    return tuple(
        _pieces(planes[index], places[index], labels[index], pictures, reach) if index in places else None
        for index in range(len(inks))
    )


def _extents(inks: Sequence[Plane], labels: Sequence[str]) -> dict[int, tuple[int, int]]:
    shown: dict[int, tuple[int, int]] = {}
    for index, (ink, label) in enumerate(zip(inks, labels, strict=True)):
        columns = np.flatnonzero((ink >= STRONG).any(axis=0))
        if label and " " not in label and len(columns):
            shown[index] = int(columns[0]), int(columns[-1]) + 1
    return shown


def _advances(shown: dict[int, tuple[int, int]], labels: Sequence[str]) -> tuple[dict[str, float], dict[int, float]]:
    """Return how far from each character the next one is, and how far each line's width is from that."""
    letters = sorted({letter for index in shown for letter in labels[index]})
    number = {letter: place for place, letter in enumerate(letters)}
    count = len(letters)
    widths = np.array([right - left for left, right in shown.values()], np.float64)
    # Of each character how often it is there, and whether it is the first or the last.
    said = np.zeros((len(shown), 3 * count))
    for row, index in zip(said, shown, strict=True):
        for letter in labels[index]:
            row[number[letter]] += 1
        row[count + number[labels[index][0]]] += 1
        row[2 * count + number[labels[index][-1]]] += 1
    usual = float(widths.sum() / said[:, :count].sum())
    solved = np.zeros(3 * count)
    off = np.zeros(len(shown))
    good = np.ones(len(shown), np.bool_)
    for _ in range(2):
        unlikely = np.diag(np.repeat((RIDGE / 3, RIDGE, RIDGE), count))
        rows = np.vstack((said[good], unlikely))
        expected = np.concatenate((widths[good] - usual * said[good, :count].sum(axis=1), np.zeros(3 * count)))
        solved = np.linalg.lstsq(rows, expected, rcond=None)[0]
        off = widths - usual * said[:, :count].sum(axis=1) - said @ solved
        good = np.abs(off) <= max(MAX_OFF, 3 * float(np.median(np.abs(off))))
    advances = {letter: max(1.0, usual + float(solved[number[letter]])) for letter in letters}
    return advances, dict(zip(shown, off.tolist(), strict=True))


def _first_pictures(
    planes: dict[int, Plane], places: dict[int, list[int]], labels: Sequence[str], reach: int
) -> dict[str, Plane]:
    seen: dict[str, list[Plane]] = {}
    for index, xs in places.items():
        for letter, x in zip(labels[index], xs, strict=True):
            seen.setdefault(letter, []).append(planes[index][:, x : x + reach])
    return {letter: np.quantile(np.array(windows), OWN, axis=0).astype(np.float32) for letter, windows in seen.items()}


def _others(plane: Plane, xs: list[int], label: str, pictures: dict[str, Plane], which: int) -> Plane:
    """Return what the other glyphs of a line draw where this one is, with room for moves on both sides."""
    room, reach = max(MOVES), pictures[label[which]].shape[1]
    left = xs[which] - room
    drawn = np.zeros((plane.shape[0], reach + 2 * room), np.float32)
    for other, x in enumerate(xs):
        if other != which and abs(x - xs[which]) < reach + room:
            first, last = max(x, left), min(x + reach, left + drawn.shape[1])
            part_of = drawn[:, first - left : last - left]
            np.maximum(part_of, pictures[label[other]][:, first - x : last - x], out=part_of)
    return drawn


def _move(plane: Plane, xs: list[int], label: str, pictures: dict[str, Plane]) -> None:
    room = max(MOVES)
    for which, letter in enumerate(label):
        others, picture = _others(plane, xs, label, pictures, which), pictures[letter]
        left, reach = xs[which] - room, picture.shape[1]
        shown = plane[:, left : left + others.shape[1]].copy()
        there, covered = _windows(shown, reach), _windows(others, reach)
        # What it leaves unexplained at each place, compared with what there is without it.
        drawn = np.maximum(covered, picture[:, None])
        costs = (np.square(there - drawn) - np.square(there - covered)).sum(axis=(0, 2))
        xs[which] += MOVES[int(np.argmin(costs[room + np.array(MOVES)]))]
        xs[which] = min(max(xs[which], room), plane.shape[1] - reach - room)


def _windows(plane: Plane, width: int) -> Plane:
    """Return what is seen from each column on: shape (height, columns, width)."""
    shape = (plane.shape[0], plane.shape[1] - width + 1, width)
    return np.ndarray(shape, np.float32, plane, 0, (*plane.strides, plane.itemsize))


def _averaged(
    planes: dict[int, Plane], places: dict[int, list[int]], labels: Sequence[str], pictures: dict[str, Plane]
) -> dict[str, Plane]:
    room = max(MOVES)
    total = {letter: np.zeros_like(picture) for letter, picture in pictures.items()}
    weight = {letter: np.full_like(picture, 1e-3) for letter, picture in pictures.items()}
    for index, xs in places.items():
        for which, (letter, x) in enumerate(zip(labels[index], xs, strict=True)):
            others = _others(planes[index], xs, labels[index], pictures, which)[:, room:-room]
            free = np.maximum(0, 1 - others / FREE)
            total[letter] += free * planes[index][:, x : x + others.shape[1]]
            weight[letter] += free
    return {letter: total[letter] / weight[letter] for letter in pictures}


def _pieces(
    plane: Plane, xs: list[int], label: str, pictures: dict[str, Plane], reach: int
) -> tuple[Piece, ...] | None:
    room = max(MOVES)
    whole = np.zeros_like(plane)
    pieces: list[Piece] = []
    for which, (letter, x) in enumerate(zip(label, xs, strict=True)):
        picture = pictures[letter]
        inked = np.flatnonzero((picture >= STRONG).any(axis=0))
        if not len(inked):
            return None
        np.maximum(whole[:, x : x + reach], picture, out=whole[:, x : x + reach])
        covered = np.minimum(1, _others(plane, xs, label, pictures, which)[:, room:-room] / FREE)
        own = plane[:, x : x + reach] * (1 - covered) + picture * covered
        start, end = int(inked[0]), int(inked[-1]) + 1
        pieces.append(Piece(x + start - reach, x + end - reach, own[:, start:end]))
    left = float(np.square(plane - whole).sum()) / max(1.0, float(np.square(plane).sum()))
    return tuple(pieces) if left <= MAX_LEFT else None
