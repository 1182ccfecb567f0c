"""Weighs all ways in which mines can lie, by the digits beside them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Squares = NDArray[np.int64]
Square = tuple[int, int]

SIDE: Final = 9
MINES: Final = 10

CLOSED: Final = -1


@dataclass(frozen=True, slots=True)
class Clue:
    """So many of these closed squares have a mine."""

    squares: frozenset[Square]
    mines: int


def around(square: Square) -> list[Square]:
    """Return a square's neighbours."""
    rows, columns = (range(max(0, at - 1), min(SIDE, at + 2)) for at in square)
    return [(row, column) for row in rows for column in columns if (row, column) != square]


def chances(squares: Squares) -> dict[Square, float]:
    """Return each closed square's chance of a mine; none if what is open contradicts itself."""
    closed = [(int(row), int(column)) for row, column in np.argwhere(squares == CLOSED)]
    groups = [(_squares_of(clues), clues) for clues in _groups(_clues(squares))]
    # In how many ways each group's squares can have 0, 1, ... mines; of all, and with one at each of them.
    ways: list[tuple[NDArray[np.float64], dict[Square, NDArray[np.float64]]]] = []
    for members, clues in groups:
        total = np.zeros(MINES + 1)
        each = {square: np.zeros(MINES + 1) for square in members}
        for mines in _layouts(members, clues, frozenset()):
            if len(mines) <= MINES:
                total[len(mines)] += 1
                for square in mines:
                    each[square][len(mines)] += 1
        ways.append((total, each))
    known = {square for members, _ in groups for square in members}
    others = [square for square in closed if square not in known]
    rest = np.array([math.comb(len(others), MINES - mines) for mines in range(MINES + 1)], float)
    everything = float(_joined([total for total, _ in ways]) @ rest)
    if not everything:
        return {}
    found: dict[Square, float] = {}
    for index, (_, each) in enumerate(ways):
        besides = [total for at, (total, _) in enumerate(ways) if at != index]
        found |= {square: float(_joined([*besides, some]) @ rest) / everything for square, some in each.items()}
    mean = (MINES - sum(found.values())) / max(1, len(others))
    return found | dict.fromkeys(others, mean)


def _clues(squares: Squares) -> list[Clue]:
    clues: set[Clue] = set()
    for row, column in np.argwhere(squares != CLOSED):
        near = frozenset(square for square in around((int(row), int(column))) if squares[square] == CLOSED)
        if near:
            clues.add(Clue(near, int(squares[row, column])))
    return sorted(clues, key=lambda clue: sorted(clue.squares))


def _groups(clues: Sequence[Clue]) -> list[list[Clue]]:
    """Part clues that have nothing to do with each other."""
    groups: list[list[Clue]] = []
    for clue in clues:
        touched = [group for group in groups if any(clue.squares & other.squares for other in group)]
        groups = [group for group in groups if group not in touched]
        groups.append([*(other for group in touched for other in group), clue])
    return groups


def _squares_of(clues: Sequence[Clue]) -> list[Square]:
    """Return all squares of clues, those of a clue beside each other."""
    return list(dict.fromkeys(square for clue in clues for square in sorted(clue.squares)))


def _layouts(squares: Sequence[Square], clues: Sequence[Clue], mines: frozenset[Square]) -> Iterator[frozenset[Square]]:
    """Yield all sets of squares that can have the mines; ``mines`` are those of the squares before these."""
    left = frozenset(squares)
    for clue in clues:
        missing = clue.mines - len(clue.squares & mines)
        if not 0 <= missing <= len(clue.squares & left):
            return
    if not squares:
        yield mines
        return
    for more in (frozenset[Square](), frozenset(squares[:1])):
        yield from _layouts(squares[1:], clues, mines | more)


def _joined(ways: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return in how many ways all groups together have so many mines."""
    joined = np.eye(1, MINES + 1)[0]
    for each in ways:
        joined = np.convolve(joined, each)[: MINES + 1]
    return joined
