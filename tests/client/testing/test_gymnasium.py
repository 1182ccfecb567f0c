from __future__ import annotations

from typing import Any

import pytest
from gymnasium.vector import AutoresetMode
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.testing import NotConforming
from pluriverse.testing.gymnasium import check, check_env

pytestmark = pytest.mark.display

LAKE = "gym-core.FrozenLake-v1"


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        ("gym-core.PongDeterministic-v3", {"size": (84, 84), "grey": True}),
        ("gym-core.CartPoleLowD-v0", {}),
        ("gym-core.MiniGrid-Empty-5x5-v0", {"actions": "pointer"}),
        ("gym-core.CartPole-v0", {"actions": "events"}),
    ],
)
def test_families_conform(env_id: str, options: dict[str, Any], mode: AutoresetMode, address: str) -> None:
    check(env_id, address, autoreset_mode=mode, **options)


def test_several_remotes_conform_as_a_vector() -> None:
    check("gym-core.CartPole-v0", "local:2", autoreset_mode="SameStep")


class Wrong(PluriverseEnv):
    """Breaks one promise."""

    def __init__(self, remotes: str, broken: str) -> None:
        super().__init__(LAKE, remotes=remotes, render_mode="rgb_array")
        self.broken = broken
        self.kept: Any = None

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        match self.broken:
            case "space":
                observation = observation[:5]
            case "reward":
                reward = int(reward)
            case "flag":
                truncated = int(truncated)
            case "info":
                del info["lost"]
            case _:
                self.kept = observation = observation if self.kept is None else self.kept
        return observation, reward, terminated, truncated, info


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("space", r"the observation of step is in Box.*got uint8 of shape \(5, 256, 3\)"),
        ("reward", "a reward is a finite float, got 0"),
        ("flag", "truncated is a bool, got 0"),
        ("info", "says whether the remote is lost"),
        ("sharing", "nobody else's"),
    ],
)
def test_promise_that_is_broken_is_named(broken: str, said: str, address: str) -> None:
    with pytest.raises(NotConforming, match=said):
        check_env(Wrong(address, broken))
