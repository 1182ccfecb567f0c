"""From a name to a batch."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import suite_gym, tensors
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.alf_wrappers import (
    BatchedTensorWrapper,
    CurriculumWrapper,
    FrameStack,
    NonEpisodicAgent,
    TensorWrapper,
)
from pluriverse.adapters.alf.parallel_environment import ParallelAlfEnvironment
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.adapters.alf.utils import create_environment, load_with_random_max_episode_steps
from pluriverse.errors import ConfigurationError
from pluriverse.testing.alf import check_environment
from support.alf_envs import Counting, load_batch

pytestmark = pytest.mark.usefixtures("no_process_is_left")


def first_observations(**options: Any) -> Any:
    with create_environment("CartPole-v1", **options) as env:
        return env.reset().observation.tolist()


def test_processes_get_distinct_seeds_that_follow_from_one() -> None:
    one = first_observations(num_parallel_environments=2, seed=11)
    assert one == first_observations(num_parallel_environments=2, num_spare_envs=1, start_serially=False, seed=11)
    assert one[0] != one[1]
    assert one[:1] == first_observations(num_parallel_environments=1, nonparallel=True, seed=np.int64(11))
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
    options = {
        "start_serially": True,
        "blocking": False,
        "flatten": True,
        "num_spare_envs_for_reload": 2,
        "torch_num_threads_per_env": 1,
        "seed": 1,
    }
    assert made == [(5, options)]


def test_evaluation_has_a_loader_and_a_batch_of_its_own() -> None:
    # The loader is told how many there are.
    def limited(env_name: str, env_id: int | None = None, num_parallel_environments: int = 0) -> AlfEnvironment:
        return suite_gym.load(env_name, env_id, max_episode_steps=num_parallel_environments)

    with create_environment(
        env_load_fn=suite_gym.load,
        eval_env_load_fn=limited,
        for_evaluation=True,
        num_parallel_environments=4,
        eval_batch_size_per_env=2,
    ) as env:
        assert isinstance(env, ParallelAlfEnvironment)
        assert len(env.envs) == 2
        assert env.reset().env_id.tolist() == [0, 1, 2, 3]
        check_environment(env, 5)


def test_batches_are_shared_out_to_processes(library: str) -> None:
    with create_environment("x", load_batch, num_parallel_environments=4, batch_size_per_env=2, seed=9) as env:
        assert env.reset().observation.tolist() == [[9] * 4] * 2 + [[10] * 4] * 2


def test_several_names_are_tasks_for_a_curriculum() -> None:
    def by_any_name(_name: str, env_id: int | None = None) -> AlfEnvironment:
        return suite_gym.load("CartPole-v1", env_id)

    with create_environment(
        ["CartPole-v1", "Acrobot"], by_any_name, num_parallel_environments=2, batched_wrappers=(CurriculumWrapper,)
    ) as env:
        assert env.task_names == ["CartPole-v1", "Acrobot"]
        check_environment(env, 60)


def test_environment_stays_in_this_thread_where_it_must() -> None:
    def here(env_name: str) -> Counting:
        return Counting(length=len(env_name))

    here.no_thread_env = True  # pyright: ignore[reportFunctionMemberAccess]
    with create_environment("abc", here, num_parallel_environments=1, nonparallel=True, seed=4) as env:
        assert isinstance(env, BatchedTensorWrapper)
        assert env.reset().observation[0, 1] == 4


def test_time_limit_is_drawn() -> None:
    envs: list[Any] = [load_with_random_max_episode_steps("CartPole-v1", min_steps=2, max_steps=4) for _ in range(20)]
    assert {env.duration for env in envs} == {2, 3, 4}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_parallel_environments": 0}, "num_parallel_environments is 0"),
        ({"num_parallel_environments": 2.0}, "num_parallel_environments is 2.0"),
        ({"num_parallel_environments": 1, "seed": 1.5}, "seed is 1.5"),
        ({"num_parallel_environments": 1, "batch_size_per_env": -1}, "can't be -1 in each"),
        ({"num_parallel_environments": 3, "batch_size_per_env": 2}, "can't be 2 in each"),
        ({"num_parallel_environments": 2, "nonparallel": True}, "nonparallel is one"),
        ({"num_parallel_environments": 1, "nonparallel": True, "num_spare_envs": 1}, "for processes"),
        ({"num_parallel_environments": 4, "batch_size_per_env": 2, "num_spare_envs": 1}, "for processes"),
        ({"env_load_fn": load_batch, "num_spare_envs": 1}, "for processes"),
        ({"env_load_fn": load_batch, "num_parallel_environments": 1, "nonparallel": True}, "not a batch"),
    ],
)
def test_what_does_not_go_together_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        create_environment(**options)
