"""Scripts for games of tiles and squares: 2048, and Minesweeper."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse.adapters.pictures import Pixels
from pluriverse_eval.agents import Seen, hold

from .finding import Patience

Tiles = NDArray[np.int64]

LEFT, RIGHT, UP, DOWN = range(4)

# Corners are worth holding on to.
WEIGHTS: Final = np.array([[15, 14, 13, 12], [8, 9, 10, 11], [7, 6, 5, 4], [0, 1, 2, 3]], float)

# How long a push may take to be seen, and how long tiles are under way.
PATIENCE_MS: Final = 400.0

# No quicker than hands: a task of planning is not to be won by that.
PUSH_MS: Final = 50.0


def pushed(tiles: Tiles, way: int) -> tuple[Tiles, int]:
    """Return the tiles (0: none) after a push, and what those that merged show."""
    turned = {LEFT: tiles, RIGHT: tiles[:, ::-1], UP: tiles.T, DOWN: tiles.T[:, ::-1]}[way]
    after, earned = np.zeros_like(turned), 0
    for line, row in enumerate(turned):
        numbers: list[int] = row[row > 0].tolist()
        at = place = 0
        while at < len(numbers):
            merges = numbers[at : at + 2] == [numbers[at]] * 2
            after[line, place] = numbers[at] * (2 if merges else 1)
            earned += int(after[line, place]) if merges else 0
            at, place = at + 1 + merges, place + 1
    return {LEFT: after, RIGHT: after[:, ::-1], UP: after.T, DOWN: after[:, ::-1].T}[way], earned


def best_push(tiles: Tiles, depth: int = 3) -> int | None:
    """Return the best push, or None."""
    return _look_ahead(tiles, depth)[1]


def _look_ahead(tiles: Tiles, depth: int) -> tuple[float, int | None]:
    best: tuple[float, int | None] = (-1e9, None)
    for way in (LEFT, UP, RIGHT, DOWN):
        after, earned = pushed(tiles, way)
        if np.array_equal(after, tiles):
            continue
        value = earned + 0.02 * float((after * WEIGHTS).sum()) + 2 * int((after == 0).sum())
        if depth > 1:
            value += 0.9 * max(_look_ahead(after, depth - 1)[0], -100.0)
        if value > best[0]:
            best = value, way
    return best


class Tiles2048:
    """Pushes tiles, as it reads them by their colours; and waits until each push is seen."""

    # The left and top edge of the first tile's corner that is looked at, and how far it is to the next.
    corner: tuple[int, int] = (42, 68)
    pitch: tuple[int, int] = (106, 106)
    colours: tuple[tuple[int, int, int], ...] = (
        (205, 193, 180), (238, 228, 218), (237, 224, 200), (242, 177, 121), (245, 149, 99), (246, 124, 95),
        (246, 94, 59), (237, 207, 114), (237, 204, 97), (237, 200, 80), (237, 197, 63), (237, 194, 46), (60, 58, 50),
    )  # fmt: skip

    def __init__(self) -> None:
        self._patience = Patience(PATIENCE_MS)

    def __call__(self, seen: Seen) -> Any:
        """Push, or wait."""
        tiles = self.read(seen.picture)
        if tiles is None or self._patience.waits(seen.ms, tiles):
            return None
        way = best_push(tiles)
        return None if way is None else hold(way, round(PUSH_MS / seen.play.frame_ms))

    def read(self, picture: Pixels) -> Tiles | None:
        """Return the tiles; None while they are under way."""
        (left, top), (across, down) = self.corner, self.pitch
        corners = picture[top : top + 3 * down + 1 : down, left : left + 3 * across + 1 : across].astype(int)
        distances = np.abs(corners[:, :, None] - np.array(self.colours)).sum(axis=-1)
        if (distances.min(axis=-1) > 6).any():
            return None
        exponents = distances.argmin(axis=-1)
        return np.where(exponents > 0, 2**exponents, 0)
