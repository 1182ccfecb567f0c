"""Kept emulators play exactly what freshly loaded ones play."""

import random
from pathlib import Path
from typing import Any

import ale_py
import pytest
from gym_core.catalogue import Atari
from gym_core.emulators import Emulators, reseeded


def fresh(game: Atari, seed: int) -> Any:
    """The game as anyone would load it."""
    ale: Any = ale_py.ALEInterface()
    ale.setInt("random_seed", seed % 2**31)
    ale.setFloat("repeat_action_probability", game.repeat_action_probability)
    ale.setInt("max_num_frames_per_episode", 108_000)
    ale.loadROM(Path(ale_py.__file__).parent / "roms" / f"{game.rom}.bin")
    if game.mode is not None:
        ale.setMode(game.mode)
    if game.difficulty is not None:
        ale.setDifficulty(game.difficulty)
    ale.reset_game()
    return ale


def playing(ale: Any, seed: int, frames: int = 200) -> list[Any]:
    """Rewards and pictures of so many frames of random play."""
    chosen = random.Random(seed)
    seen: list[Any] = [ale.getScreenRGB().tobytes()]
    action = 0
    for frame in range(frames):
        if frame % 5 == 0:
            action = chosen.randrange(18)
        seen.append((ale.act(action), ale.getScreenRGB().tobytes()))
    return seen


# Berzerk and Double Dunk draw from the generator while they load; Air Raid's picture is higher than the others'.
@pytest.mark.parametrize(
    ("rom", "repeat"),
    [("pong", 0.0), *((rom, 0.25) for rom in ("pong", "breakout", "air_raid", "berzerk", "double_dunk"))],
)
def test_a_kept_game_plays_as_a_fresh_one_whatever_was_played_before(rom: str, repeat: float) -> None:
    game, kept = Atari(rom, 4, repeat), Emulators()
    playing(kept.begin(game, 5), 99)
    for seed in (11, 5):
        assert playing(kept.begin(game, seed), seed) == playing(fresh(game, seed), seed)


@pytest.mark.parametrize(("rom", "mode", "difficulty"), [("space_invaders", 9, 1), ("breakout", 44, 1), ("pong", 1, 3)])
def test_each_mode_and_difficulty_plays_as_a_fresh_one_beside_the_others(rom: str, mode: int, difficulty: int) -> None:
    own, other, kept = Atari(rom, 4, 0.25), Atari(rom, 4, 0.25, mode, difficulty), Emulators()
    plays = [playing(kept.begin(game, 3), 3) for game in (own, other, own, other)]
    assert plays[0] == plays[2] == playing(fresh(own, 3), 3)
    assert plays[1] == plays[3] == playing(fresh(other, 3), 3)
    assert plays[0] != plays[1]


def test_a_state_without_a_freshly_seeded_generator_is_not_reseeded() -> None:
    ale = fresh(Atari("pong", 4, 0.25), 7)
    state: bytes = ale.cloneState(include_rng=True).serialize()
    assert reseeded(state, 7, 8) is not None
    assert reseeded(state, 6, 8) is None
    assert reseeded(ale.cloneState(include_rng=False).serialize(), 7, 8) is None
    ale.act(0)
    assert reseeded(ale.cloneState(include_rng=True).serialize(), 7, 8) is None
