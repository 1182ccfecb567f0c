"""Where to drop a piece of falling blocks: tries all places, and weighs the fields that follow. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .finding import Mask

# What a field is worth: of lines that are full, of all columns' heights, of holes, and of steps between columns.
LINES: Final = 0.76
HEIGHT: Final = -0.51
HOLES: Final = -0.36
STEPS: Final = -0.18

Place = tuple[int, int]
"""How often a piece is to be turned, and its left column then."""


def heights(field: Mask) -> NDArray[np.int64]:
    """Return how high each column is filled."""
    return np.where(field.any(axis=0), len(field) - field.argmax(axis=0), 0)


def dropped(field: Mask, piece: Mask, column: int) -> Mask | None:
    """Return the field with the piece dropped in at its left column, lines not yet taken out; None: no room."""
    rows, columns = piece.shape
    free = len(field) - heights(field)[column : column + columns]
    # Where the piece's top comes to, by each of its columns.
    top = int((free - (rows - piece[::-1].argmax(axis=0))).min())
    if top < 0:
        return None
    after = field.copy()
    after[top : top + rows, column : column + columns] |= piece
    return after


def places(field: Mask, piece: Mask) -> Iterator[tuple[Place, Mask]]:
    """Yield each place, with the field that follows."""
    known: set[tuple[tuple[int, ...], bytes]] = set()
    for turns in (0, 1, 3, 2):
        turned = np.rot90(piece, turns)
        if (turned.shape, turned.tobytes()) in known:
            continue
        known.add((turned.shape, turned.tobytes()))
        for column in range(field.shape[1] - turned.shape[1] + 1):
            after = dropped(field, turned, column)
            if after is not None:
                yield (turns, column), after


def worth(field: Mask) -> float:
    """Return how good a field is, lines not yet taken out."""
    full = field.all(axis=1)
    left = np.concatenate((np.zeros((int(full.sum()), field.shape[1]), bool), field[~full]))
    high = heights(left)
    holes = int(high.sum() - left.sum())
    steps = int(np.abs(np.diff(high)).sum())
    return LINES * int(full.sum()) + HEIGHT * int(high.sum()) + HOLES * holes + STEPS * steps


def best_place(field: Mask, piece: Mask) -> Place | None:
    """Return the best place, or None; of equally good ones the same, however the piece is turned."""
    found = [(round(worth(after), 6), after.tobytes(), place) for place, after in places(field, piece)]
    return max(found, default=(0.0, b"", None))[2]
