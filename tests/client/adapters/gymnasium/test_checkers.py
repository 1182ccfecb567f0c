import contextlib
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from pluriverse.adapters.gymnasium import PluriverseEnv

pytestmark = [pytest.mark.slow, pytest.mark.display]

# A structured observation's numbers may be anything; Gymnasium's own environments get this warning, too.
UNBOUNDED = "ignore:.*A Box observation space (minimum|maximum) value is -?infinity:UserWarning"

# An environment's older versions are offered on purpose.
OLD = "ignore:.*is out of date:DeprecationWarning"


def make(env_id: str, address: str, **options: Any) -> PluriverseEnv:
    env = gymnasium.make(f"pluriverse/{env_id}", remotes=address, **options)
    assert isinstance(env, PluriverseEnv)  # nothing is wrapped around it
    return env


@pytest.mark.filterwarnings(UNBOUNDED, OLD)
@pytest.mark.parametrize("env_id", ["gym-core.PongDeterministic-v3", "gym-core.CartPoleLowD-v0"])
def test_environment_in_lockstep_passes_the_whole_check_with_that_of_determinism(env_id: str) -> None:
    with contextlib.closing(make(env_id, "local:1", clock="lockstep")) as env:
        assert env.spec is not None
        assert not env.spec.nondeterministic
        check_env(env)
    assert gymnasium.spec(f"pluriverse/{env_id}").nondeterministic


@pytest.mark.filterwarnings(OLD)
def test_spec_of_a_vector_in_lockstep_says_that_it_is_deterministic(address: str) -> None:
    for clock in ("lockstep", "realtime"):
        several = gymnasium.make_vec("pluriverse/gym-core.CartPole-v0", num_envs=1, remotes=address, clock=clock)
        assert several.spec is not None
        assert several.spec.nondeterministic is (clock == "realtime")
        several.close()
