from types import SimpleNamespace
from typing import Any, cast

import pytest
from dm_env import StepType
from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.dm_env import DmEnvironment, action_spec, load
from pluriverse.errors import ConfigurationError
from pluriverse.testing.dm_env import check
from pluriverse_protocol.env_spaces import Spaces

pytestmark = pytest.mark.display


def test_outcome_ends_with_discount_zero_and_the_next_step_begins_anew_whatever_its_action(address: str) -> None:
    with load("gym-core.CartPole-v0", address) as env:
        env.reset()
        while not (last := env.step(0)).last():
            pass
        assert last.discount == 0.0
        step: Any = env.step("no action at all")
        assert (step.first(), step.reward) == (True, None)
        assert env.step(0).step_type is StepType.MID


def test_arrays_of_actions_are_named_after_their_numbers_as_in_dm_control() -> None:
    spec = action_spec(ActionMap(Spaces(keys=(0xFF51,), pointer=True), (0, 0, 9, 9), "pointer"))
    assert {part: spec[part].name.split("\t") for part in spec} == {
        "pointer": ["x", "y"],
        "buttons": ["left", "middle", "right"],
        "keys": ["ArrowLeft"],
    }
    assert [spec[part].shape for part in spec] == [(2,), (3,), (1,)]


def test_several_remotes_and_lists_of_events_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected one remote"):
        DmEnvironment(cast("Any", SimpleNamespace(n=2)))
    with pytest.raises(ConfigurationError, match="lists of events are no arrays"):
        action_spec(ActionMap(Spaces(), (0, 0, 9, 9), "events"))


@pytest.mark.parametrize("env_id", ["gym-core.MiniGrid-DoorKey-5x5-v0", "gym-core.CartPoleLowD-v0"])
def test_contract_holds(env_id: str, address: str) -> None:
    check(env_id, address, size=(32, 32), grey=True)
