"""Array specs, spaces and dm_env's specs; those of Pong are EnvPool's own."""

from __future__ import annotations

from typing import Any

import envpool
import numpy as np
import pytest
from dm_env import specs
from gymnasium import spaces
from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.envpool.config import ATARI, Config
from pluriverse.adapters.envpool.spec import PoolSpec
from pluriverse.errors import ConfigurationError
from pluriverse_protocol.env_spaces import Choice, Spaces

PONG = Spaces(discrete=tuple(Choice(f"{number}", ()) for number in range(6)), keys=(97, 98), pointer=True)
BOX = (0, 0, 160, 210)

# A screen doesn't show the emulator's memory; EnvPool doesn't lose remotes.
THEIRS = {"info:ram"}
OURS = {"info:lost"}


def spec(kind: Any = "discrete", config: Config = ATARI) -> PoolSpec:
    return PoolSpec(config, ActionMap(PONG, BOX, kind), (4, 84, 84))


@pytest.fixture(scope="module")
def theirs() -> Any:
    return envpool.make_spec("Pong-v5")


def test_arrays_are_envpools(theirs: Any) -> None:
    told = spec().state_array_spec
    assert set(told) - OURS == set(theirs.state_array_spec) - THEIRS
    for name in set(told) - OURS:
        other = theirs.state_array_spec[name]
        assert np.dtype(told[name].dtype) == np.dtype(other.dtype), name
        assert list(told[name].shape) == list(other.shape), name
    for name, each in spec().action_array_spec.items():
        other = theirs.action_array_spec[name]
        assert (np.dtype(each.dtype), list(each.shape)) == (np.dtype(other.dtype), list(other.shape))
        assert (each.minimum, each.maximum) == (other.minimum, other.maximum)


def test_spaces_are_envpools(theirs: Any) -> None:
    assert spec().observation_space == theirs.observation_space == spec().gymnasium_observation_space
    assert spec().action_space == theirs.action_space == spec().gymnasium_action_space
    assert spec().action_spec() == theirs.action_spec()


def test_specs_of_an_observation_are_envpools(theirs: Any) -> None:
    told = spec().observation_spec()
    others = theirs.observation_spec()
    assert set(told._fields) - {"lost"} == set(others._fields) - {"ram"}
    assert told.obs == others.obs
    assert told.env_id == others.env_id
    assert told.players.env_id == others.players.env_id
    assert told.terminated == others.terminated


def test_threshold_is_the_options() -> None:
    assert spec().reward_threshold is None
    assert spec(config=Config(reward_threshold=19.0)).reward_threshold == 19.0


def test_keys_are_a_row_of_bits() -> None:
    assert spec("keys").action_space == spaces.Box(0, 1, (2,), np.int32)
    assert spec("keys").action_spec() == specs.BoundedArray((2,), np.int32, 0, 1, "action")


def test_pointer_is_a_dict_that_send_takes() -> None:
    space = spec("pointer").action_space
    sample = space.sample()["action"]
    assert sample.keys() == {"pointer", "buttons", "keys"}
    assert space["action"]["pointer"].high.tolist() == [159, 209]
    assert set(spec("pointer").action_spec()) == {"action.pointer", "action.buttons", "action.keys"}


def test_lists_of_events_are_no_arrays() -> None:
    with pytest.raises(ConfigurationError, match="EnvPool's actions are arrays"):
        spec("events")
