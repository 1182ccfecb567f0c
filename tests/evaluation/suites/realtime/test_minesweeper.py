from __future__ import annotations

import numpy as np
import pytest
from pluriverse.adapters.computer import Click
from realtime.mines import CLOSED, SIDE, chances
from realtime.minesweeper import Minesweeper
from support.solved import Earned, blank, fill, seen

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_squares_are_read_by_colours_and_safe_ones_clicked() -> None:
    script = Minesweeper()
    picture = blank(480, 480, (185, 185, 185))
    squares = np.zeros((SIDE, SIDE), np.int64)
    squares[:2], squares[2, :6] = CLOSED, (1, 1, 2, 2, 2, 1)
    for (row, column), digit in np.ndenumerate(squares):
        left, top = 60 + 40 * column, 73 + 40 * row
        if digit == CLOSED:
            fill(picture, (left, top, left + 40, top + 3), (255, 255, 255))
        elif digit:
            fill(picture, (left + 15, top + 12, left + 25, top + 28), script.DIGITS[digit - 1])
    assert script.read(picture).tolist() == squares.tolist()
    clicks = script(seen(picture))
    assert Click(at=(160, 133)) in clicks
    assert len(clicks) == sum(chance < 1e-9 for chance in chances(squares).values())


def test_minesweeper_is_played(earned_in_page: Earned) -> None:
    _, squares = earned_in_page("minesweeper", seed=9)
    assert squares >= 60
