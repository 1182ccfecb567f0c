"""One vector of remotes, without the actor around it."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import Misuse
from pluriverse.fleet.batch import Batch, VectorSpec
from pluriverse.fleet.node_vector import NodeVector

pytestmark = [pytest.mark.slow, pytest.mark.display]

PONG = "gym-core.PongDeterministic-v3"
STEPS = 60


@pytest.fixture(scope="module")
def begun() -> Generator[tuple[NodeVector, VectorSpec]]:
    vector = NodeVector(PONG, "local:2", {"pictures": PictureOptions(size=(84, 84), grey=True)})
    try:
        spec, batch = vector.begin()
        assert sorted(batch.env_id) == [0, 1]
        assert batch.first.all()
        yield vector, spec
    finally:
        vector.close()
        vector.close()


def play_until_all_answer(vector: NodeVector, batch: Batch) -> Batch:
    while len(batch) < 2 or batch.done.any():
        batch = vector.step(dict.fromkeys(batch.env_id.tolist(), 0))
    return batch


def test_all_rows_that_are_acted_on_answer_with_arrays(begun: tuple[NodeVector, VectorSpec]) -> None:
    vector, spec = begun
    assert (spec.n, spec.shape, spec.fps, spec.actions.n) == (2, (84, 84, 1), 60, 6)
    batch = vector.step({0: 2, 1: 3})
    assert batch.observation.shape == (len(batch), 84, 84, 1)
    assert batch.observation.dtype == np.uint8
    assert batch.observation.any()
    assert batch.reward.dtype == np.float32
    for column in (batch.reward, batch.terminated, batch.truncated, batch.first, batch.lost, batch.elapsed, batch.done):
        assert column.shape == (len(batch),)
    play_until_all_answer(vector, batch)


def test_in_lockstep_everyone_is_waited_for() -> None:
    vector = NodeVector("gym-core.CartPole-v1", "local:1", {"clock": "lockstep", "slots": 2})
    try:
        _, batch = vector.begin()
        assert len(batch) == 2
        for _ in range(STEPS):
            batch = vector.step({0: 0, 1: 1})
            assert len(batch) == 2
    finally:
        vector.close()


def test_nothing_is_stepped_before_it_began() -> None:
    with pytest.raises(Misuse, match="has not begun"):
        NodeVector(PONG, "local:1", {}).step({0: 0})
