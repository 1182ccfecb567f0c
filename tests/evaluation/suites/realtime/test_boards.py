from __future__ import annotations

import numpy as np
import pytest
from realtime.boards import DOWN, LEFT, RIGHT, UP, Tiles2048, pushed
from support.solved import Earned, blank, fill

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TILES = np.array([[2, 2, 2, 0], [0, 4, 0, 4], [0, 0, 0, 0], [8, 0, 0, 2]])


def test_tiles_are_pushed_to_each_side_and_merge_once() -> None:
    after, points = pushed(TILES, LEFT)
    assert after.tolist() == [[4, 2, 0, 0], [8, 0, 0, 0], [0, 0, 0, 0], [8, 2, 0, 0]]
    assert points == 12
    assert pushed(TILES, RIGHT)[0][0].tolist() == [0, 0, 2, 4]
    assert pushed(TILES, UP)[0][:, 3].tolist() == [4, 2, 0, 0]
    assert pushed(TILES, DOWN)[0][:, 0].tolist() == [0, 0, 2, 8]


def test_tiles_are_read_by_their_colours_once_they_stand() -> None:
    script = Tiles2048()
    picture = blank(480, 480, (205, 193, 180))
    fill(picture, (34, 60, 128, 154), (238, 228, 218))
    fill(picture, (140, 166, 234, 260), (242, 177, 121))
    tiles = script.read(picture)
    assert tiles is not None
    assert {(y, x): int(tiles[y, x]) for y, x in zip(*np.nonzero(tiles), strict=True)} == {(0, 0): 2, (1, 1): 8}
    assert script.read(blank(480, 480, (1, 2, 3))) is None


def test_2048_is_played(earned_in_page: Earned) -> None:
    _, points = earned_in_page("tiles-2048", seconds=5)
    assert points > 100
