"""The arrays of one recv."""

from __future__ import annotations

import numpy as np
from pluriverse.adapters.envpool.batch import ROW, arrays
from pluriverse.adapters.envpool.game import FIRST, LAST, MID, Row


def test_rows_become_arrays_in_their_order() -> None:
    rows = np.zeros(3, ROW)
    rows[2] = Row(FIRST, 0, 3)
    rows[0] = Row(MID, 5, 2, 1.0, 7.0)
    rows[1] = Row(LAST, 9, 0, discount=0.0, done=True, terminated=True, lost=True)
    room = np.zeros((3, 4, 84, 84), np.uint8)
    state = arrays([2, 0, 1], rows, room)
    assert state["obs"] is room
    assert state["info:env_id"].tolist() == state["info:players.env_id"].tolist() == [2, 0, 1]
    assert state["step_type"].tolist() == [0, 1, 2]
    assert state["elapsed_step"].tolist() == [0, 5, 9]
    assert state["info:lives"].tolist() == [3, 2, 0]
    assert state["reward"].tolist() == [0.0, 1.0, 0.0]
    assert state["info:reward"].tolist() == [0.0, 7.0, 0.0]
    assert state["discount"].tolist() == [1.0, 1.0, 0.0]
    assert state["done"].tolist() == state["info:lost"].tolist() == [False, False, True]
    assert state["info:terminated"].tolist() == [0, 0, 1]
    rows[:] = 0
    assert state["info:lives"].tolist() == [3, 2, 0]
