from __future__ import annotations

import pytest
from realtime.atari import LEFT, RIGHT, Pong
from support.solved import Earned, blank, fill, seen

pytestmark = [pytest.mark.slow, pytest.mark.display]


@pytest.mark.parametrize(("goes", "choice"), [(-4, RIGHT), (4, LEFT)])
def test_pong_goes_to_where_the_ball_will_be(goes: int, choice: int) -> None:
    pong, held = Pong(), None
    for number in range(2):
        picture = blank(160, 210, (144, 72, 17))
        fill(picture, (140, 106, 144, 122), (92, 186, 92))
        x, y = 100 + 4 * number, 113 + goes * number
        fill(picture, (x, y, x + 2, y + 4), (236, 236, 236))
        held = pong(seen(picture, 17.0 * number))
    assert held is not None
    assert held.action == choice


def test_breakout_breaks_bricks(earned: Earned) -> None:
    _, points = earned("breakout", seconds=4)
    assert points >= 1
