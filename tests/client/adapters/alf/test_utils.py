from typing import Any

import gymnasium
import pytest
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.alf_gym_wrapper import AlfGymWrapper
from pluriverse.adapters.alf.alf_wrappers import AlfEnvironmentBaseWrapper
from pluriverse.adapters.alf.parallel_environment import ParallelAlfEnvironment
from pluriverse.adapters.alf.utils import create_environment
from pluriverse.errors import ConfigurationError
from pluriverse.testing.alf import check_environment


def of_gymnasium(env_name: str, env_id: int = 0) -> AlfEnvironment:
    return AlfGymWrapper(gymnasium.make(env_name), env_id)


def first_observations(**options: Any) -> Any:
    with create_environment("CartPole-v1", of_gymnasium, **options) as env:
        return env.reset().observation.tolist()


def test_environments_get_distinct_seeds_that_follow_from_one() -> None:
    one = first_observations(num_parallel_environments=2, seed=11)
    assert one == first_observations(num_parallel_environments=2, seed=11)
    assert one[0] != one[1]
    assert one[:1] == first_observations(num_parallel_environments=1, nonparallel=True, seed=11)


def test_batch_is_wrapped_and_plays() -> None:
    class Inner(AlfEnvironmentBaseWrapper):
        pass

    wrappers = (Inner, AlfEnvironmentBaseWrapper)
    with create_environment("CartPole-v1", of_gymnasium, num_parallel_environments=2, batched_wrappers=wrappers) as env:
        assert isinstance(env, AlfEnvironmentBaseWrapper)
        inner = env.wrapped_env()
        assert isinstance(inner, Inner)
        assert isinstance(inner.wrapped_env(), ParallelAlfEnvironment)
        check_environment(env, 60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_parallel_environments": 0}, "num_parallel_environments is 0"),
        ({"num_parallel_environments": 2.0}, "num_parallel_environments is 2.0"),
        ({"num_parallel_environments": 1, "seed": 1.5}, "seed is 1.5"),
        ({"num_parallel_environments": 2, "nonparallel": True, "env_load_fn": of_gymnasium}, "nonparallel is one"),
        ({"num_parallel_environments": 1, "nonparallel": True}, "no batch"),
    ],
)
def test_what_does_not_go_together_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        create_environment(**options)
