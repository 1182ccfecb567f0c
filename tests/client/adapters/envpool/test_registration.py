"""What there is, and how it is made; nothing is started here."""

from typing import Any

import pytest
from pluriverse.adapters.envpool.registration import list_all_envs, make, make_spec
from pluriverse.errors import ConfigurationError


def test_picture_and_pace_of_pluriverses_own_are_left_as_they_are() -> None:
    made = make_spec("x.Y-v0", actions="keys", fps=30.0, replace_on_crash=False).config
    assert (made.task, made.env_id, made.actions, made.fps) == ("x.Y-v0", "x.Y-v0", "keys", 30.0)
    assert (made.stack_num, made.frame_skip, made.noop_max, made.img_height, made.gray_scale) == (1, 1, 0, None, False)
    assert made.connection == {"replace_on_crash": False}


def test_as_many_environments_as_remotes_unless_said_otherwise() -> None:
    assert make_spec("Pong-v5", remotes="local:4").config.num_envs == 4
    with pytest.raises(ConfigurationError, match="num_envs is 2, and there are 4 remotes"):
        make("Pong-v5", "gym", remotes="local:4", num_envs=2)


@pytest.mark.parametrize("options", [{"foo": 1}, {"task": "breakout"}, {"connection": {}}, {"audio": True}])
def test_unknown_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=f"unknown option {next(iter(options))}"):
        make("Pong-v5", "gym", **options)


@pytest.mark.parametrize("name", ["Pong", "Pong-v4", "pong-v5", "Nothing-v5", ""])
def test_what_there_is_not_is_refused_before_anything_is_started(name: str) -> None:
    with pytest.raises(ConfigurationError, match="list_all_envs"):
        make(name, "gym", remotes="local:1")


@pytest.mark.slow
def test_atari_games_are_there_by_both_names_with_envpools_actions() -> None:
    names = list_all_envs()
    assert {"gym-core.PongNoFrameskip-v3", "gym-core.CartPole-v0"} <= set(names)
    games = [name for name in names if "." not in name]
    assert len(games) > 100
    assert {make_spec(name).config.env_id for name in games} <= set(names)
    assert make_spec("Pong-v5").action_space.n == 6
