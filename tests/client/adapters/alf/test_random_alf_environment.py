"""Random observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.random_alf_environment import RandomAlfEnvironment
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec

SEEN = {"cube": BoundedTensorSpec((2, 3), "int32", -10, 10), "free": TensorSpec((2,))}
ACTION = BoundedTensorSpec((1,), "float32", -1, 1)


def play(env: RandomAlfEnvironment, steps: int = 200) -> list[Any]:
    return [env.step(ACTION.numpy_zeros()) for _ in range(steps)]


def test_observations_are_drawn_and_episodes_begin_by_themselves() -> None:
    steps = play(RandomAlfEnvironment(SEEN, ACTION, env_id=3))
    assert all(SEEN[name].contains(step.observation[name]) for step in steps for name in SEEN)
    assert all(0 <= step.observation["free"].min() <= step.observation["free"].max() <= 1 for step in steps)
    lasts = [bool(step.is_last()) for step in steps]
    assert 5 < sum(lasts) < 40
    assert [bool(step.is_first()) for step in steps[1:]] == lasts[:-1]
    assert {float(step.discount) for step in steps if step.is_last()} == {0}
    assert steps[0].env_id == 3


@pytest.mark.parametrize(("shortest", "longest"), [(5, None), (0, 5), (5, 5)])
def test_episodes_are_as_long_as_they_may_be(shortest: int, longest: int | None) -> None:
    env = RandomAlfEnvironment(SEEN, ACTION, episode_end_probability=0.5, min_duration=shortest, max_duration=longest)
    kinds = "".join(str(int(step.step_type)) for step in play(env))
    lengths = [len(episode) + 1 for episode in kinds.split("0")[1:-1] for episode in [episode.rstrip("2")]]
    assert min(lengths) >= max(shortest, 1)
    assert max(lengths) <= (longest or 200)


def test_same_seed_gives_the_same_observations() -> None:
    one, other = RandomAlfEnvironment(SEEN, ACTION, seed=1), RandomAlfEnvironment(SEEN, ACTION, seed=2)
    other.seed(1)
    assert all(
        (a.observation["cube"] == b.observation["cube"]).all() for a, b in zip(play(one), play(other), strict=True)
    )
    assert one.render().shape == (2, 2, 3)


def test_rewards_are_the_functions_and_must_fit_the_batch() -> None:
    env = RandomAlfEnvironment(SEEN, ACTION, reward_fn=lambda _kind, action, _seen: action[0] + 1, max_duration=9)
    env.reset()
    assert env.step(ACTION.numpy_zeros()).reward == 1
    batch = RandomAlfEnvironment(SEEN, ACTION, reward_fn=lambda _kind, _action, _seen: np.array([1.0]), batch_size=5)
    batch.reset()
    with pytest.raises(ValueError, match="that of the batch"):
        batch.step(ACTION.numpy_zeros())
    with pytest.raises(ValueError, match="one for each"):
        RandomAlfEnvironment(SEEN, ACTION, discount=[1, 1], batch_size=3)


def test_batch_takes_an_action_each_or_one_for_all(library: str) -> None:
    env = RandomAlfEnvironment(SEEN, ACTION, batch_size=3, episode_end_probability=0, use_tensor_time_step=True)
    assert (env.batched, env.batch_size, env.is_tensor_based) == (True, 3, True)
    env.reset()
    for action in (ACTION.zeros((3,)), ACTION.zeros()):
        step = env.step(action)
        assert tuple(step.prev_action.shape) == (3, 1)
        assert step.env_id.tolist() == [0, 1, 2]
        assert type(step.observation["cube"]).__module__ == library
    with pytest.raises(RuntimeError, match="structures differ"):
        env.step({"force": tensors.chosen().tensor(np.zeros(1))})
    with pytest.raises(NotImplementedError, match="no picture"):
        env.render("human")
