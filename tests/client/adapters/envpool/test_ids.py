"""EnvPool's names and pluriverse's ids."""

from __future__ import annotations

import envpool
import pytest
from pluriverse.adapters.envpool.config import ATARI, Config
from pluriverse.adapters.envpool.ids import list_all_envs, resolve
from pluriverse.errors import ConfigurationError


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
