from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pluriverse.adapters.envpool.arrays import Stacks, arrays
from pluriverse.adapters.envpool.game import FIRST, LAST, MID, Row


def test_rows_become_arrays_in_their_order() -> None:
    rows = [
        Row(FIRST, 0, 3),
        Row(MID, 5, 2, 1.0, 7.0),
        Row(LAST, 9, 0, discount=0.0, done=True, terminated=True, lost=True),
    ]
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


# Whether to fill, and the number of the environment.
calls = st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=40)


def picture(value: int, channels: int) -> NDArray[np.uint8]:
    rows = np.arange(value, value + 2 * 3 * channels, dtype=np.uint8)
    return rows.reshape(2, 3, channels)


@given(st.integers(1, 5), st.sampled_from([1, 3]), calls)
def test_ring_has_the_last_pictures_oldest_first(depth: int, channels: int, done: list[tuple[bool, int]]) -> None:
    stacks = Stacks(3, depth, (2, 3, channels))
    blank = np.zeros((2, 3, channels), np.uint8)
    lists = [deque([blank] * depth, maxlen=depth) for _ in range(3)]
    for value, (fills, index) in enumerate(done):
        new = picture(value, channels)
        if fills:
            stacks.fill(index, new)
            lists[index].extend([new] * depth)
        else:
            stacks.push(index, new)
            lists[index].append(new)
    for index in range(3):
        out = np.empty(stacks.shape, np.uint8)
        stacks.copy_to(index, out)
        expected = np.concatenate([each.transpose(2, 0, 1) for each in lists[index]])
        assert out.shape == (depth * channels, 2, 3)
        assert np.array_equal(out, expected)


def test_what_was_copied_out_stays_as_it_was() -> None:
    stacks = Stacks(1, 2, (2, 3, 1))
    stacks.fill(0, picture(1, 1))
    out = np.empty(stacks.shape, np.uint8)
    stacks.copy_to(0, out)
    kept = out.copy()
    stacks.push(0, picture(9, 1))
    assert np.array_equal(out, kept)
