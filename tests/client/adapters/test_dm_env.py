"""dm_env's interface over a real remote."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from dm_env import StepType
from pluriverse.adapters.dm_env import DmEnvironment, load
from pluriverse.errors import ConfigurationError
from pluriverse.testing.dm_env import check

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"
CART = "gym-core.CartPole-v0"
GRID = "gym-core.MiniGrid-DoorKey-5x5-v0"


@pytest.fixture(scope="module")
def cart() -> Generator[DmEnvironment]:
    with load(CART, "local:1") as env:
        yield env


def play_out(env: DmEnvironment, action: Any = 0) -> Any:
    """Act until the episode ends; its last step."""
    while not (step := env.step(action)).last():
        pass
    return step


def test_outcome_ends_with_discount_zero_and_the_next_step_begins_anew(cart: DmEnvironment) -> None:
    cart.reset()
    last = play_out(cart)
    assert last.discount == 0.0
    step = cart.step(0)
    assert step.first()
    assert step.reward is None
    assert cart.step(0).step_type is StepType.MID


def test_action_of_a_step_that_begins_an_episode_is_ignored(cart: DmEnvironment) -> None:
    cart.reset()
    play_out(cart)
    assert cart.step("no action at all").first()


def test_arrays_of_actions_are_named_after_their_numbers_as_in_dm_control() -> None:
    with load(CART, "local:1", actions="pointer") as env:
        spec = env.action_spec()
        assert {part: spec[part].name.split("\t") for part in spec} == {
            "pointer": ["x", "y"],
            "buttons": ["left", "middle", "right"],
            "keys": ["ArrowLeft"],
        }
        assert [spec[part].shape for part in spec] == [(2,), (3,), (1,)]
        env.reset()
        env.step({name: spec[name].generate_value() for name in spec})


def test_several_remotes_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected one remote"):
        load(CART, "local:2")


def test_lists_of_events_have_no_spec() -> None:
    with pytest.raises(ConfigurationError, match="no spec"):
        load(CART, "local:1", actions="events")


@pytest.mark.parametrize("env_id", [PONG, GRID, "gym-core.CartPoleLowD-v0"])
def test_contract_holds(env_id: str) -> None:
    check(env_id, "local:1")
