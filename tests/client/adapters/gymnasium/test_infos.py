from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import VectorEnv
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.gymnasium.infos import batch_infos, info_of
from pluriverse.adapters.player import StepResult
from pluriverse.env.outcome import Outcome

N = 4

# Each key's values are of one type, as Gymnasium wants it.
FLAT = {
    "flag": st.booleans(),
    "count": st.integers(-(2**31), 2**31),
    "lag": st.floats(allow_nan=False),
    "name": st.text(max_size=3),
    "pair": st.tuples(st.integers(0, 9), st.integers(0, 9)),
    "numbers": st.lists(st.integers(0, 9), min_size=2, max_size=2).map(np.array),
    "small": st.integers(0, 9).map(np.int8),
    "final_obs": st.lists(st.integers(0, 9), min_size=2, max_size=2).map(np.array),
}
INFO = st.fixed_dictionaries({}, optional={**FLAT, "nested": st.fixed_dictionaries({}, optional=FLAT)})


class Theirs(VectorEnv[Any, Any]):
    num_envs = N


@given(st.dictionaries(st.integers(0, N - 1), INFO, max_size=N))
def test_infos_are_batched_as_gymnasium_does_it(infos: dict[int, dict[str, Any]]) -> None:
    expected: dict[str, Any] = {}
    for index, info in infos.items():
        expected = Theirs()._add_info(expected, info, index)  # pyright: ignore[reportPrivateUsage]
    assert data_equivalence(batch_infos(N, infos.items()), expected, exact=True)


def test_types_that_differ_between_environments_are_objects() -> None:
    batch = batch_infos(3, [(0, {"score": 1}), (1, {"score": None}), (2, {"score": [2**80]})])
    assert batch["score"].dtype == object
    assert batch["score"].tolist() == [1, None, [2**80]]
    assert batch_infos(1, [(0, {"score": 2**80})])["score"].tolist() == [2**80]


def test_what_is_measured_can_be_left_out() -> None:
    turn = StepResult(
        np.zeros((1, 1, 3), np.uint8),
        truncated=True,
        lost=True,
        lives=3,
        outcome=Outcome(done=True, truncated=True, error="it broke", episode_id=4, reward_lag=(0.1, 0.2)),
    )
    assert info_of(turn, measured=False) == {"error": "it broke", "lives": 3, "lost": True}
    assert info_of(turn, measured=True).keys() == turn.info.keys() - {"terminated", "truncated"} | {"lost"}
