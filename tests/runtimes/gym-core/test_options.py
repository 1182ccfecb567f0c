"""The options of Atari games, compared with ale-py itself."""

from pathlib import Path

import ale_py
import pytest
from gym_core import emulators, tables
from gym_core.catalogue import Atari, Gymnasium, entries
from pluriverse_protocol.env_options import complete, parse

ENTRIES = {entry.id.removeprefix("gym-core."): entry for entry in entries()}


@pytest.mark.slow
def test_the_modes_and_difficulties_are_those_of_ale_py() -> None:
    ale = emulators.import_ale()()
    # One game for each set of modes, and of difficulties: a ROM takes a while to load.
    sampled = {numbers: rom for table in (tables.MODES, tables.DIFFICULTIES) for rom, numbers in table.items()}
    for rom in sampled.values():
        ale.loadROM(str(Path(ale_py.__file__).parent / "roms" / f"{rom}.bin"))  # pyright: ignore[reportUnknownMemberType]
        assert sorted(tables.MODES[rom]) == sorted(ale.getAvailableModes()), rom
        own = ale.cloneState()
        assert set(tables.DIFFICULTIES[rom]) == {own.getDifficulty(), *ale.getAvailableDifficulties()}, rom
        assert (tables.MODES[rom][0], tables.DIFFICULTIES[rom][0]) == (own.getCurrentMode(), own.getDifficulty()), rom


@pytest.mark.parametrize("env_id", ["Pong-v0", "SurroundSync-v3", "SkiingNoFrameskip-v3"])
def test_the_defaults_are_what_the_id_says(env_id: str) -> None:
    entry = ENTRIES[env_id]
    declared = parse(entry.as_json()["options"])
    values = complete(declared, {})
    assert isinstance(entry.game, Atari)
    assert values["repeat_action_probability"] == entry.game.repeat_action_probability
    game = entry.with_options(values).game
    assert isinstance(game, Atari)
    assert (game.full_action_space, game.max_pool) == (False, False)
    assert game.mode == tables.MODES[game.rom][0]


def test_only_atari_has_options() -> None:
    assert all(("options" in entry.as_json()) == isinstance(entry.game, Atari) for entry in ENTRIES.values())
    lake = ENTRIES["FrozenLake-v1"]
    assert isinstance(lake.game, Gymnasium)
    assert lake.with_options({}) == lake
