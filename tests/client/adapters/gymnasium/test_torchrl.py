"""TorchRL's check of specs, on the ways that it has to make one environment or several."""

from functools import partial
from typing import Any, Final

import gymnasium
import pluriverse.adapters.gymnasium
import pytest
from support.later import Later, needs

torchrl: Any = Later("torchrl.envs")

gymnasium.register_envs(pluriverse.adapters.gymnasium)

pytestmark = [
    pytest.mark.slow,
    needs("torchrl"),
    pytest.mark.display,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning",
        "ignore::UserWarning:torch.*",
        "ignore::FutureWarning:torch.*",
        "ignore::FutureWarning:tensordict.*",
    ),
]

# Episodes of a few steps, whatever is pressed.
SHORT: Final = "pluriverse/gym-core.FrozenLake-v1"
LOW_D: Final = "pluriverse/gym-core.CartPoleLowD-v0"
SMALL: Final[dict[str, Any]] = {"size": (36, 36), "grey": True}


def check(env: Any) -> None:
    try:
        torchrl.check_env_specs(env, seed=1)
    finally:
        env.close(raise_if_closed=False)


@pytest.mark.parametrize(("env_id", "options"), [(SHORT, {"actions": "keys"}), (LOW_D, {})])
def test_one_environment_passes(env_id: str, options: dict[str, Any], address: str) -> None:
    check(torchrl.GymEnv(env_id, remotes=address, **options, **SMALL))


# With dicts of observations, TorchRL fails at the first end in SameStep, with Gymnasium's own vectors too. A pole that
# falls by itself is upright for the few steps of the check.
@pytest.mark.parametrize(("env_id", "mode"), [(SHORT, "SameStep"), (LOW_D, "SameStep"), (LOW_D, "Disabled")])
def test_vector_passes(env_id: str, mode: str, address: str) -> None:
    options: dict[str, Any] = {"remotes": address, "autoreset_mode": mode, "clock": "lockstep", **SMALL}
    check(torchrl.GymWrapper(gymnasium.make_vec(env_id, 2, **options)))


@pytest.mark.parametrize(("env_id", "mode"), [(SHORT, "SameStep"), (LOW_D, "Disabled")])
def test_vector_plays_over_the_ends_of_episodes(env_id: str, mode: str, address: str) -> None:
    options: dict[str, Any] = {"remotes": address, "autoreset_mode": mode, "clock": "lockstep", **SMALL}
    env = torchrl.GymWrapper(gymnasium.make_vec(env_id, 2, **options))
    try:
        played = env.rollout(60, break_when_any_done=False)
    finally:
        env.close()
    assert played.shape == (2, 60)
    assert played["next", "done"].any(1).all()
    # The step after an end is the next episode's first.
    assert not played["done"].any()


def test_environments_in_processes_pass() -> None:
    # As processes need it that import nothing of ours.
    check(torchrl.ParallelEnv(2, partial(torchrl.GymEnv, f"pluriverse:{SHORT}", remotes="local:1", **SMALL)))
