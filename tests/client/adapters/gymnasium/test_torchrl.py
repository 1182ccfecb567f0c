"""TorchRL's check of specs, on each way that it has to make one environment or several."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any, Final

import gymnasium
import pluriverse.adapters.gymnasium
import pytest
from support.later import Later, needs
from support.remotes import on_machine

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

PONG: Final = "pluriverse/gym-core.PongDeterministic-v3"
# Episodes of a few steps, whatever is pressed.
SHORT: Final = "pluriverse/gym-core.FrozenLake-v1"
LOW_D: Final = "pluriverse/gym-core.CartPoleLowD-v0"
# As processes need it that import nothing of ours.
NAMED: Final = f"pluriverse:{SHORT}"
SMALL: Final[dict[str, Any]] = {"size": (36, 36), "grey": True}


@pytest.fixture(scope="module")
def remotes() -> Generator[list[str]]:
    with on_machine() as first, on_machine() as second:
        yield [f"127.0.0.1:{each.vnc_port}+{each.port}?password={each.password}" for each in (first, second)]


def attached(remotes: list[str]) -> str:
    places, password = zip(*(each.split("?") for each in remotes), strict=True)
    return f"vnc://{','.join(places)}?{password[0]}"


def check(env: Any) -> None:
    try:
        torchrl.check_env_specs(env, seed=1)
    finally:
        env.close(raise_if_closed=False)


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        (PONG, {}),
        (LOW_D, SMALL),
        (SHORT, {"actions": "keys", **SMALL}),
    ],
)
def test_one_environment_passes(env_id: str, options: dict[str, Any], remotes: list[str]) -> None:
    check(torchrl.GymEnv(env_id, remotes=attached(remotes[:1]), **options))
    check(torchrl.GymWrapper(gymnasium.make(env_id, remotes=attached(remotes[:1]), **options)))


# With dicts of observations, TorchRL fails at the first end in SameStep, with Gymnasium's own vectors too. A pole that
# falls by itself is upright for the few steps of the check in lockstep only.
@pytest.mark.parametrize(
    ("env_id", "mode", "clock"),
    [
        (SHORT, "SameStep", "realtime"),
        (LOW_D, "SameStep", "lockstep"),
        (LOW_D, "Disabled", "realtime"),
    ],
)
def test_vector_passes(env_id: str, mode: str, clock: str, remotes: list[str]) -> None:
    options: dict[str, Any] = {"remotes": attached(remotes), "autoreset_mode": mode, "clock": clock, **SMALL}
    check(torchrl.GymWrapper(gymnasium.make_vec(env_id, 2, **options)))


# See above.
@pytest.mark.parametrize(("env_id", "mode"), [(SHORT, "SameStep"), (SHORT, "Disabled"), (LOW_D, "Disabled")])
def test_vector_plays_over_the_ends_of_episodes(env_id: str, mode: str, remotes: list[str]) -> None:
    env = torchrl.GymWrapper(gymnasium.make_vec(env_id, 2, remotes=attached(remotes), autoreset_mode=mode, **SMALL))
    try:
        played = env.rollout(60, break_when_any_done=False)
    finally:
        env.close()
    assert played.shape == (2, 60)
    assert played["next", "done"].any(1).all()
    # The step after an end is the next episode's first.
    assert not played["done"].any()


def test_vector_that_resets_in_the_next_step_is_refused_by_torchrl(remotes: list[str]) -> None:
    vector = gymnasium.make_vec(SHORT, 2, remotes=attached(remotes), autoreset_mode="NextStep", **SMALL)
    try:
        with pytest.raises(RuntimeError, match="SAME_STEP or DISABLED"):
            torchrl.GymWrapper(vector)
    finally:
        vector.close()


@pytest.mark.parametrize("several", ["SerialEnv", "ParallelEnv"])
def test_environments_side_by_side_pass(several: str) -> None:
    check(getattr(torchrl, several)(2, partial(torchrl.GymEnv, NAMED, remotes="local:1", **SMALL)))
