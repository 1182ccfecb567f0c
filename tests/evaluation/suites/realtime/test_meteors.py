import pytest
from realtime.meteors import LEFT, NOOP, RIGHT, Meteors
from support.solved import blank, fill, seen

CRYSTAL, METEOR, SHIP = (79, 240, 208), (160, 116, 78), (244, 244, 255)


@pytest.mark.parametrize(("x", "choice"), [(100, LEFT), (236, NOOP), (380, RIGHT)])
def test_crystal_is_caught(x: int, choice: int) -> None:
    picture = blank(480, 480, (11, 16, 38))
    fill(picture, (229, 429, 253, 453), SHIP)
    fill(picture, (x, 200, x + 10, 210), CRYSTAL)
    assert Meteors()(seen(picture)).action == choice


def test_meteor_is_kept_away_from_though_a_crystal_is_behind_it() -> None:
    picture = blank(480, 480, (11, 16, 38))
    fill(picture, (229, 429, 253, 453), SHIP)
    fill(picture, (236, 200, 246, 210), CRYSTAL)
    fill(picture, (215, 350, 255, 390), METEOR)
    assert Meteors()(seen(picture)).action == RIGHT
