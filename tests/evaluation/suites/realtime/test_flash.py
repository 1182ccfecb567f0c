from __future__ import annotations

import numpy as np
import pytest
from realtime.flash import Racer, lights_out
from support.solved import Earned, blank, fill, seen

pytestmark = [pytest.mark.slow, pytest.mark.browser]

OWN, OTHER = (224, 64, 48), (59, 111, 208)


def road(*others: tuple[int, int], lane: int = 2) -> Racer:
    picture = blank(400, 400, (68, 68, 72))
    for column, top, colour in [(lane, 320, OWN), *((column, top, OTHER) for column, top in others)]:
        fill(picture, (column * 100 - 20, top, column * 100 + 20, top + 50), colour)
    return Racer()(seen(picture)).action


def test_lane_is_left_for_the_nearest_that_is_free() -> None:
    assert road() == Racer.UP
    assert road((2, 150), (3, 200)) == Racer.LEFT
    assert road((2, 150), (1, 200)) == Racer.RIGHT
    assert road((1, 150), (2, 300), lane=1) == Racer.UP, "there is a car beside it"


def test_lamps_are_put_out() -> None:
    lamps = np.zeros((5, 5), bool)
    assert lights_out(lamps) == []
    lamps[2, 1:4] = lamps[1:4, 2] = True
    assert lights_out(lamps) == [(2, 2)]
    lamps[0, 0] = True
    assert lights_out(lamps) == [], "no clicks lead there"


def test_riddle_is_solved(earned_in_page: Earned) -> None:
    task, points = earned_in_page("lights")
    assert points >= task.success
