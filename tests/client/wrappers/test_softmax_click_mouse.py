from __future__ import annotations

import pytest
from pluriverse.errors import ActionError
from pluriverse.wrappers import SoftmaxClickMouse
from pluriverse_protocol.events import PointerEvent
from support.scripted import ScriptedEnv


def test_action_clicks_the_middle_of_its_cell() -> None:
    env = ScriptedEnv()
    mouse = SoftmaxClickMouse(env, (0, 0, 25, 20), step=10)
    assert mouse.points == [(5, 5), (5, 15), (15, 5), (15, 15), (24, 5), (24, 15)]
    assert mouse.action_space.n == 6
    mouse.step([1])
    assert env.actions == [[[PointerEvent(5, 15, 0), PointerEvent(5, 15, 1), PointerEvent(5, 15, 0)]]]
    mouse.step([None])
    assert env.actions[1] == [[]]
    assert mouse.nearest(16, 13) == 3
    with pytest.raises(ActionError, match="0 to 5"):
        mouse.step([6])


def test_cells_in_regions_without_clicks_are_left_out() -> None:
    assert SoftmaxClickMouse(ScriptedEnv(), (0, 0, 20, 20), noclick_regions=[(0, 0, 9, 9)]).points == [
        (5, 15),
        (15, 5),
        (15, 15),
    ]


def test_world_of_bits_has_256_cells() -> None:
    assert SoftmaxClickMouse(ScriptedEnv()).action_space.n == 256
