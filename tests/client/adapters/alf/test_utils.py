"""From a name to a batch."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import suite_gym, tensors
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.alf_wrappers import FrameStack, NonEpisodicAgent, TensorWrapper
from pluriverse.adapters.alf.data_structures import restart
from pluriverse.adapters.alf.parallel_environment import ParallelAlfEnvironment
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.adapters.alf.utils import create_environment
from pluriverse.errors import ConfigurationError
from pluriverse.testing.alf import check_environment
from support.alf_envs import Counting

pytestmark = pytest.mark.usefixtures("no_process_is_left")


class Batch(Counting):
    """Written for arrays, and remembers what it was made with."""

    def __init__(self, name: str, batch_size: int) -> None:
        super().__init__()
        self.name = name
        self._n = batch_size

    @property
    def batched(self) -> bool:
        return True

    @property
    def batch_size(self) -> int:
        return self._n

    def _reset(self) -> Any:
        return restart(np.full((self._n, 4), self._seed), self.action_spec(), batched=True)


def load_batch(env_name: str, batch_size: int, extra: int = 0) -> Batch:
    return Batch(f"{env_name}{extra}", batch_size)


load_batch.batched = True  # pyright: ignore[reportFunctionMemberAccess]


def first_observations(**options: Any) -> Any:
    with create_environment("CartPole-v1", **options) as env:
        return env.reset().observation.tolist()


def test_processes_get_distinct_seeds_that_follow_from_one() -> None:
    one = first_observations(num_parallel_environments=2, seed=11)
    assert one == first_observations(num_parallel_environments=2, num_spare_envs=1, start_serially=False, seed=11)
    assert one[0] != one[1]
    assert one[:1] == first_observations(num_parallel_environments=1, nonparallel=True, seed=11)
    assert one != first_observations(num_parallel_environments=2, seed=None)


def test_each_environment_is_loaded_with_its_index_and_wrapped_as_a_batch() -> None:
    load = partial(suite_gym.load, max_episode_steps=5)
    stack = partial(FrameStack, stack_size=2, channel_order="channels_last")
    env = create_environment(
        "CartPole-v1", load, num_parallel_environments=2, blocking=True, batched_wrappers=(NonEpisodicAgent, stack)
    )
    with env:
        assert isinstance(env, FrameStack)
        inner = env.wrapped_env()
        assert isinstance(inner, NonEpisodicAgent)
        assert isinstance(inner.wrapped_env(), ParallelAlfEnvironment)
        assert env.observation_spec().shape == (8,)
        check_environment(env)


def test_nonparallel_environment_lives_in_a_thread() -> None:
    with create_environment(nonparallel=True, num_parallel_environments=1) as env:
        assert isinstance(env, ThreadEnvironment)
        check_environment(env, 60)


def test_batched_environment_is_passed_straight_through_with_tensors(library: str) -> None:
    with create_environment("x", partial(load_batch, extra=3), num_parallel_environments=4, seed=9) as env:
        assert isinstance(env, TensorWrapper)
        assert (env.name, env.batch_size) == ("x3", 4)
        assert env.reset().observation.tolist() == [[9] * 4] * 4
        assert type(env.reset().observation).__module__ == library
        assert tensors.is_tensor(env.reset().reward)


def test_parallel_constructor_can_be_another() -> None:
    made: list[Any] = []

    def constructor(constructors: list[Any], **options: Any) -> AlfEnvironment:
        made.append((len(constructors), options))
        return Counting()

    create_environment(num_parallel_environments=3, num_spare_envs=2, seed=1, parallel_environment_ctor=constructor)
    options = {"start_serially": True, "blocking": False, "num_spare_envs_for_reload": 2, "seed": 1}
    assert made == [(5, options)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_parallel_environments": 0}, "expected 1 or more"),
        ({"num_parallel_environments": 2, "nonparallel": True}, "nonparallel is one"),
        ({"num_parallel_environments": 1, "nonparallel": True, "num_spare_envs": 1}, "for processes"),
        ({"env_load_fn": load_batch, "num_spare_envs": 1}, "has no processes"),
        ({"env_load_fn": load_batch, "num_parallel_environments": 1, "nonparallel": True}, "has no processes"),
    ],
)
def test_what_does_not_go_together_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        create_environment(**options)
