from typing import Any, cast

import numpy as np
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import VectorEnv
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.gymnasium.batches import ObservationBatch, batch_infos
from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.rewarder.result import Result
from pluriverse_protocol.env_spaces import Spaces

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


class Said:
    """What a batch knows of a core, and its results."""

    def __init__(self, spaces: Spaces | None, states: list[Any]) -> None:
        self.n = len(states)
        self.spaces = spaces
        self.pictures = Pictures(PictureOptions(), (0, 0, 3, 2))
        self.audio_shape = None
        self.results = [
            Result(np.full((2, 3, 3), index, np.uint8), (f"text {index}",), state) for index, state in enumerate(states)
        ]


def test_copies_stay_and_other_arrays_are_filled_anew() -> None:
    said = Said(Spaces(text=True, observation=(1,)), [[1], [2]])
    batch = ObservationBatch(cast("Any", said))
    copied, same = batch.observations(said.results, copy=True), batch.observations(said.results, copy=False)
    assert copied["text"] == ("text 0", "text 1")
    assert copied["observation"].tolist() == [[1], [2]]
    said.results[1] = said.results[1]._replace(vision=np.full((2, 3, 3), 9, np.uint8), observation=[7])
    assert batch.observations(said.results, copy=False)["vision"] is same["vision"]
    assert copied["observation"].tolist() == [[1], [2]]
    assert same["observation"].tolist() == [[1], [7]]
    assert (same["vision"][1] == 9).all()
    assert (copied["vision"][1] == 1).all()
