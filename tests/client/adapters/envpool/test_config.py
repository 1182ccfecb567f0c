from __future__ import annotations

from typing import Any

import envpool
import numpy as np
import pytest
from pluriverse.adapters.envpool.config import ATARI, Config, list_all_envs, read, resolve
from pluriverse.errors import ConfigurationError


def config(defaults: Config = ATARI, remotes: int | None = None, **options: Any) -> Config:
    return read("Pong-v5", defaults, remotes, options)[0]


def test_defaults_of_an_atari_game_are_envpools() -> None:
    made = config()
    assert (made.num_envs, made.batch_size, made.seed, made.max_episode_steps) == (1, 1, 42, 27000)
    assert (made.stack_num, made.frame_skip, made.noop_max, made.gray_scale) == (4, 4, 30, True)
    assert (made.img_height, made.img_width, made.use_fire_reset) == (84, 84, True)


def test_batch_is_everyone_where_its_size_is_not_given() -> None:
    assert config(num_envs=3).batch_size == 3
    assert config(num_envs=3, batch_size=0).batch_size == 3
    assert config(num_envs=3, batch_size=2).batch_size == 2


def test_environment_i_gets_seed_plus_i() -> None:
    assert config(num_envs=3, seed=7).seeds == [7, 8, 9]
    assert config(num_envs=2, seed=[5, 3]).seeds == [5, 3]
    assert config(num_envs=2, seed=np.array([5, 3])).env_seed == [5, 3]
    assert config(num_envs=2, seed=-1).seeds == [2**31 - 1, 0]


def test_number_of_remotes_is_that_of_environments() -> None:
    assert config(remotes=4).num_envs == 4
    assert config(remotes=4, num_envs=4, batch_size=2).batch_size == 2
    with pytest.raises(ConfigurationError, match="num_envs is 2, and remotes are 4"):
        config(remotes=4, num_envs=2)


def test_options_of_a_remote_are_kept_apart() -> None:
    made, connection, rendering = read(
        "x.Y-v0",
        Config(),
        None,
        {"actions": "keys", "fps": 30.0, "replace_on_crash": False, "render_mode": "rgb_array"},
    )
    assert made == Config(batch_size=1, task="x.Y-v0")
    assert (connection.actions, connection.fps, connection.options) == ("keys", 30.0, {"replace_on_crash": False})
    assert rendering.render_mode == "rgb_array"


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"foo": 1}, "there is no option foo"),
        ({"task": "breakout"}, "there is no option task"),
        ({"num_envs": 2, "batch_size": 3}, "batch_size is 3, and num_envs 2"),
        ({"batch_size": -1}, "batch_size is -1"),
        ({"num_envs": 0}, "num_envs is 0"),
        ({"num_envs": True}, "num_envs is True"),
        ({"stack_num": 0}, "stack_num is 0"),
        ({"frame_skip": 1.5}, "frame_skip is 1.5"),
        ({"noop_max": -1}, "noop_max is -1"),
        ({"max_episode_steps": 0}, "max_episode_steps is 0"),
        ({"img_height": None}, "go together"),
        ({"repeat_action_probability": 1.5}, "expected 0 to 1"),
        ({"seed": 2**31}, "32-bit"),
        ({"num_envs": 3, "seed": [1, 2]}, "2 seeds for 3"),
        ({"seed": [1], "env_seed": [1]}, "give one of them"),
        ({"max_num_players": 2}, "one agent plays one remote"),
        ({"gym_reset_return_info": False}, "can only be True"),
        ({"full_action_space": True}, "actions='keys'"),
        ({"mode": 3}, "another environment"),
        ({"render_mode": "ansi"}, "render_mode is 'ansi'"),
        ({"render_camera_id": 2}, "no cameras"),
    ],
)
def test_what_can_not_be_had_is_refused_with_the_rule(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(ConfigurationError, match=rule):
        config(**options)


def test_atari_game_is_gym_cores_without_skipped_frames_and_sticky_actions() -> None:
    assert resolve("Pong-v5") == ("gym-core.PongNoFrameskip-v3", ATARI)


def test_id_of_pluriverse_is_taken_as_it_is() -> None:
    assert resolve("gym-core.CartPole-v0") == ("gym-core.CartPole-v0", Config())


@pytest.mark.parametrize("name", ["Pong", "Pong-v4", "pong-v5", ""])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="list_all_envs"):
        resolve(name)


def test_all_environments_have_the_games_by_both_names_and_envpool_knows_its_own() -> None:
    names = list_all_envs()
    assert {"Pong-v5", "gym-core.PongNoFrameskip-v3", "gym-core.CartPole-v0"} <= set(names)
    games = {name for name in names if "." not in name}
    assert len(games) > 50
    assert games <= set(envpool.list_all_envs())
    assert {resolve(name)[0] for name in games} <= set(names)
