from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf.alf_wrappers import AlfEnvironmentBaseWrapper, TimeLimit
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.errors import ConfigurationError
from pluriverse.testing.alf import check_environment
from support.alf_envs import Counting


def test_base_wrapper_changes_nothing_and_hands_everything_on() -> None:
    inner = Counting(env_id=7, length=2)
    env = AlfEnvironmentBaseWrapper(inner)
    assert env.wrapped_env() is inner
    assert env.time_step_spec() == inner.time_step_spec()
    assert env.env_info_spec() == inner.env_info_spec()
    assert (env.batched, env.batch_size, env.env_id) == (False, 1, 7)
    assert env.render()[0, 0, 0] == 7
    assert [bool(env.step(0).is_last()) for _ in range(4)] == [False, False, True, False]
    check_environment(env)
    with pytest.raises(AttributeError, match="_steps"):
        _ = env._steps  # pyright: ignore[reportPrivateUsage]


def test_time_limit_sets_last_and_keeps_the_discount() -> None:
    env = TimeLimit(Counting(length=5), 3)
    steps = [env.step(0) for _ in range(9)]
    assert [int(step.step_type) for step in steps] == [0, 1, 1, 2, 0, 1, 1, 2, 0]
    assert [float(step.discount) for step in steps] == [1] * 9
    assert all(np.asarray(step.step_type).dtype == np.int32 for step in steps)
    check_environment(env)


def test_outcome_within_the_limit_stays_one() -> None:
    env = TimeLimit(Counting(length=3), 3)
    assert [float(env.step(0).discount) for _ in range(5)] == [1, 1, 1, 0, 1]
    env = TimeLimit(Counting(length=2), 3)
    assert [int(env.step(0).step_type) for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("duration", [0, 1.5])
def test_limit_of_no_steps_is_refused(duration: Any) -> None:
    with pytest.raises(ConfigurationError, match="duration is"):
        TimeLimit(Counting(), duration)


def test_limit_of_a_batch_is_refused() -> None:
    with ThreadEnvironment(Counting) as env, pytest.raises(ConfigurationError, match="max_episode_steps"):
        TimeLimit(env, 3)
