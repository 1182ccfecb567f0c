from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pluriverse.adapters.envpool.arrays import Stacks, as_tuple, flat, nested


def test_names_with_points_and_colons_are_nests() -> None:
    nest = nested({"obs": 1, "info:env_id": 2, "info:players.env_id": 3})
    assert nest == {"obs": 1, "info": {"env_id": 2, "players": {"env_id": 3}}}
    assert flat(nest) == {"obs": 1, "info.env_id": 2, "info.players.env_id": 3}


def test_nest_becomes_named_tuples_of_one_type_each() -> None:
    made = as_tuple("State", {"obs": 1, "players": {"env_id": 3}})
    assert (type(made).__name__, made._fields, made.obs, made.players.env_id) == ("State", ("obs", "players"), 1, 3)
    assert type(as_tuple("State", {"obs": 2, "players": {"env_id": 4}})) is type(made)


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
