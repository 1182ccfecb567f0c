"""A script for LTris, falling blocks."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from pluriverse.adapters.computer import Press
from pluriverse.adapters.computer.key_names import chord
from pluriverse.adapters.pictures import Pixels
from pluriverse_eval.agents import Seen, hold

from .blocks import best_place
from .finding import Mask, Patience, runs

LEFT, RIGHT, TURN, TURN_BACK, _, DROP = range(1, 7)

# How long a key may take to be seen; one that is pressed twice leads astray.
PATIENCE_MS: Final = 1000.0

# No quicker than hands: a task of planning is not to be won by that.
PUSH_MS: Final = 50.0

# So long Down brings a piece wholly into view, which comes in slowly.
LOWER_S: Final = 0.05


class LTris:
    """Steers each piece to its place, key by key, and drops it; and waits until each is seen."""

    # The field, and the sides of its squares.
    BOX: Final = (150, 60, 350, 460)
    SIDE: Final = 20
    BRIGHT: Final = 120
    BLOCKS: Final = 4

    def __init__(self) -> None:
        self._patience = Patience(PATIENCE_MS)
        self._place = np.zeros((0, 0), bool)
        self._next_ms = 0.0

    def __call__(self, seen: Seen) -> Any:
        """Press a key, or wait."""
        if seen.ms < self._next_ms:
            return None
        read = self.read(seen.picture)
        if read is None:
            return Press(chord("Down"), seconds=LOWER_S)
        field, piece, column = read
        place = np.zeros((self.BLOCKS, field.shape[1]), bool)
        place[: len(piece), column : column + piece.shape[1]] = piece
        # Amid a turn a piece may look like another one.
        steady, self._place = np.array_equal(place, self._place), place
        if not steady or self._patience.waits(seen.ms, np.concatenate((field, place))):
            return None
        turns, to = best_place(field, piece) or (0, column)
        turn = TURN if turns < 3 else TURN_BACK
        step = DROP if column == to else LEFT if to < column else RIGHT
        self._next_ms = seen.ms + PUSH_MS
        return hold(turn if turns else step)

    def read(self, picture: Pixels) -> tuple[Mask, Mask, int] | None:
        """Return the field, the piece that falls and its left column; None: it is not wholly in view."""
        left, top, right, bottom = self.BOX
        bright = np.asarray(picture[top:bottom, left:right].max(axis=-1) > self.BRIGHT)
        found = runs(np.asarray(bright.any(axis=1)))
        if not found:
            return None
        # Between its rows it is darker; an empty row parts it from the field.
        lowest = found[0][1]
        for start, end in found[1:]:
            lowest = end if start - lowest < self.SIDE // 2 else lowest
        rows = (lowest + self.SIDE // 2) // self.SIDE
        field = self._blocks(bright)
        field[:rows] = False
        hidden = -lowest % self.SIDE
        blocks = self._blocks(np.pad(bright[:lowest], ((hidden, 0), (0, 0))))
        blocks = blocks[blocks.any(axis=1)]
        columns = np.flatnonzero(blocks.any(axis=0))
        if blocks.sum() != self.BLOCKS:
            return None
        return field, blocks[:, columns[0] : columns[-1] + 1], int(columns[0])

    def _blocks(self, bright: Mask) -> Mask:
        """Return which squares are filled, by the middle of each."""
        rows, columns = (length // self.SIDE for length in bright.shape)
        squares = bright.reshape(rows, self.SIDE, columns, self.SIDE).swapaxes(1, 2)
        return np.asarray(squares[:, :, 6:-6, 6:-6].mean(axis=(2, 3)) > 0.5)
