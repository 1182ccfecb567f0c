from typing import Any

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.testing import NotConforming
from pluriverse.testing.gymnasium import check, check_env, check_vector

pytestmark = pytest.mark.display

LAKE = "gym-core.FrozenLake-v1"


@pytest.mark.parametrize(
    ("env_id", "options", "mode"),
    [
        ("gym-core.PongDeterministic-v3", {"size": (84, 84), "grey": True}, "NextStep"),
        ("gym-core.CartPoleLowD-v0", {}, "SameStep"),
        ("gym-core.CartPole-v0", {"actions": "events"}, "Disabled"),
        ("gym-core.MiniGrid-Empty-5x5-v0", {"actions": "pointer"}, "NextStep"),
    ],
)
def test_families_conform(env_id: str, options: dict[str, Any], mode: str, address: str) -> None:
    check(env_id, address, autoreset_mode=mode, **options)


def test_several_conform_as_a_vector(address: str) -> None:
    options: dict[str, Any] = {"autoreset_mode": "SameStep", "clock": "lockstep"}
    check_vector(PluriverseVectorEnv("gym-core.CartPole-v0", num_envs=2, remotes=address, **options))


class Wrong(PluriverseEnv):
    """Breaks one promise."""

    def __init__(self, remotes: str, broken: str) -> None:
        super().__init__(LAKE, remotes=remotes, render_mode="rgb_array")
        self.broken = broken
        self.kept: Any = None

    def step(self, action: Any) -> Any:
        observation, *rest = super().step(action)
        if self.broken == "space":
            observation = observation[:5]
        else:
            self.kept = observation = observation if self.kept is None else self.kept
        return observation, *rest


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("space", r"the observation of step is in Box.*got uint8 of shape \(5, 256, 3\)"),
        ("sharing", "nobody else's"),
    ],
)
def test_promise_that_is_broken_is_named(broken: str, said: str, address: str) -> None:
    with pytest.raises(NotConforming, match=said):
        check_env(Wrong(address, broken))
