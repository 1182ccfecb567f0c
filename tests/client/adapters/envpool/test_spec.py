from typing import Any

import numpy as np
import pytest
from dm_env import specs
from gymnasium import spaces
from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.envpool.config import Config
from pluriverse.adapters.envpool.spec import EnvSpec
from pluriverse.errors import ConfigurationError
from pluriverse_protocol.env_spaces import Choice, Spaces

PONG = Spaces(discrete=tuple(Choice(f"{number}", ()) for number in range(6)), keys=(97, 98), pointer=True)


def spec(kind: Any = "discrete", **options: Any) -> EnvSpec:
    made = EnvSpec(Config(task="x.Y-v0", **options))
    made.described = ActionMap(PONG, (0, 0, 160, 210), kind), (84, 84, 1)
    return made


def test_spaces_of_an_atari_game_are_known_without_a_remote() -> None:
    made = EnvSpec(Config(task="pong", gray_scale=False, img_height=50, img_width=60, stack_num=2))
    assert made.observation_space == spaces.Box(0, 255, (6, 50, 60), np.uint8)
    assert made.action_space == spaces.Discrete(6)
    assert made.action_spec() == specs.DiscreteArray(6, np.int32, "action")
    assert EnvSpec(Config(full_action_space=True)).action_space == spaces.Discrete(18)


def test_keys_are_a_row_of_bits() -> None:
    assert spec("keys").action_space == spaces.Box(0, 1, (2,), np.int32)
    assert spec("keys").action_spec() == specs.BoundedArray((2,), np.int32, 0, 1, "action")


def test_pointer_is_a_dict_that_send_takes() -> None:
    space = spec("pointer").action_space
    sample = space.sample()["action"]
    assert sample.keys() == {"pointer", "buttons", "keys"}
    assert space["action"]["pointer"].high.tolist() == [159, 209]
    told = spec("pointer").action_spec()
    assert told._fields == ("env_id", "players", "action")
    assert told.action.buttons == specs.BoundedArray((3,), np.int32, 0, 1, "buttons")


def test_lists_of_events_are_no_arrays() -> None:
    with pytest.raises(ConfigurationError, match="lists of events are no arrays"):
        _ = spec("events").action_space
