from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.envpool.config import Config
from pluriverse.errors import ConfigurationError


def config(**options: Any) -> Config:
    return Config(**options).checked()


def test_batch_is_everyone_where_its_size_is_not_given() -> None:
    assert config(num_envs=3).batch_size == 3
    assert config(num_envs=3, batch_size=2).batch_size == 2


def test_environment_i_gets_seed_plus_i() -> None:
    assert config(num_envs=3, seed=7).seed == [7, 8, 9]
    assert config(num_envs=2, seed=[5, 3]).seed == [5, 3]


def test_remote_is_asked_for_what_it_alone_can_do() -> None:
    assert config().env_options == {"max_pool": True, "repeat_action_probability": 0.0}
    options = {"mode": 3, "difficulty": 1, "full_action_space": True, "repeat_action_probability": 0.25}
    assert config(**options).env_options == {**options, "max_pool": True}
    assert config(connection={"env_options": {"max_pool": False}}).env_options["max_pool"] is False
    assert config(task="gym-core.Pong-v3").env_options == {}
    assert config(task="gym-core.Pong-v3", mode=2).env_options == {"mode": 2}


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"num_envs": 2, "batch_size": 3}, "batch_size is 3; expected an integer of 0 to 2"),
        ({"img_height": None}, "img_height, img_width"),
        ({"repeat_action_probability": 1.5}, "repeat_action_probability"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": np.zeros((1, 1), np.int64)}, "seed"),
        ({"num_envs": 3, "seed": [1, 2]}, "got 2 seeds for 3 environments"),
        ({"mode": -2}, "mode is -2"),
    ],
)
def test_what_can_not_be_had_is_refused_with_the_rule(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(ConfigurationError, match=rule):
        config(**options)
