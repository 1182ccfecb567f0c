import contextlib
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.adapters.real_time import RealTime
from pluriverse.errors import ConfigurationError, Misuse

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"
ACTIONS = [2, 2, 5, 3, 1, 0, 4, 2] * 3


@pytest.fixture
def env(address: str) -> Generator[PluriverseEnv]:
    with PluriverseEnv(PONG, remotes=address, clock="lockstep", size=(84, 84), grey=True) as made:
        yield made


def played(env: PluriverseEnv, actions: Sequence[int] = ACTIONS) -> list[Any]:
    return [flat(env.step(action)) for action in actions]


def flat(step: tuple[Any, ...]) -> list[Any]:
    """Everything that a step returned, with bytes for arrays."""
    return [part.tobytes() if isinstance(part, np.ndarray) else part for part in step]


def test_snapshot_and_restore_repeat_what_followed(env: PluriverseEnv) -> None:
    env.reset(seed=1)
    played(env)
    then = env.step(1)
    moment = env.snapshot()
    first = played(env)
    observation, info = env.restore(moment)
    assert np.array_equal(observation, then[0])
    assert info == then[4]
    assert played(env) == first


def test_replay_yields_the_reset_and_every_step_again(env: PluriverseEnv) -> None:
    observation, info = env.reset(seed=2)
    expected = [flat((observation, 0.0, False, False, info)), *played(env)]
    assert [flat(step) for step in env.replay(ACTIONS, 2)] == expected


def test_fork_is_a_vector_of_where_the_environment_is(env: PluriverseEnv) -> None:
    env.reset(seed=3)
    played(env)
    with contextlib.closing(env.fork(2)) as vector:
        assert vector.num_envs == 2
        for _ in range(5):
            expected = np.stack([env.step(2)[0]] * 2)
            observations, *_ = vector.step(np.array([2, 2]))
            assert np.array_equal(observations, expected)
        expected, *_ = vector.step(np.array([5, 0]))
        moments = vector.snapshot()
        vector.step(np.array([1, 3]))
        restored, _ = vector.restore(moments)
        assert np.array_equal(restored, expected)
        with pytest.raises(Misuse, match="1 snapshots for 2 environments"):
            vector.restore(moments[:1])
        batches = np.random.default_rng(1).integers(0, 6, (10, 2))
        first, second = ([flat(step[:4]) for step in vector.replay(batches, 7)] for _ in range(2))
        assert first == second
        assert len(first) == 11


def test_real_time_cannot_be_repeated() -> None:
    env, vector = PluriverseEnv.__new__(PluriverseEnv), PluriverseVectorEnv.__new__(PluriverseVectorEnv)
    env.core = vector.core = Core.__new__(Core)
    env.core._backend = RealTime.__new__(RealTime)  # pyright: ignore[reportPrivateUsage]
    vector.num_envs = 1
    for call in (env.snapshot, lambda: next(env.replay([], 1)), lambda: env.fork(1), vector.snapshot):
        with pytest.raises(ConfigurationError, match="clock='lockstep'"):
            call()
