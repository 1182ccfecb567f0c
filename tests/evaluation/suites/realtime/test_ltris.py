from __future__ import annotations

import numpy as np
import pytest
from realtime.ltris import LTris
from support.solved import Earned, blank, fill

pytestmark = [pytest.mark.slow, pytest.mark.display]


def test_piece_is_read_in_the_middle_of_its_fall() -> None:
    script = LTris()
    picture = blank(800, 600, (60, 50, 40))
    fill(picture, (150, 440, 230, 460), (212, 210, 27))
    fill(picture, (210, 67, 270, 87), (206, 206, 206))
    assert script.read(picture) is None
    fill(picture, (230, 87, 250, 107), (206, 206, 206))
    read = script.read(picture)
    assert read is not None
    field, piece, column = read
    assert np.argwhere(field).tolist() == [[19, 0], [19, 1], [19, 2], [19, 3]]
    assert piece.tolist() == [[True, True, True], [False, True, False]]
    assert column == 3


def test_lines_are_filled(earned: Earned) -> None:
    _, points = earned("ltris", seconds=5)
    assert points >= 100
