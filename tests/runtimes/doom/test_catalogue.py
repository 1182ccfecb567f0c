import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import vizdoom
from doom.catalogue import entries

RUNTIME = Path(__file__).parents[3] / "runtimes" / "doom"
CONFIGS = Path(vizdoom.scenarios_path)

# Recordings of sound, messages, several players, other games' data, and a generator's maps, which aren't bundled.
LEFT_OUT = {
    *("basic_audio", "basic_notifications", "learning"),
    *("cig", "multi", "multi_duel"),
    *("doom", "doom2", "oblige"),
}


def run_python(*arguments: str) -> str:
    run = subprocess.run([sys.executable, *arguments], cwd=RUNTIME, capture_output=True, text=True, timeout=60)
    return run.stdout


def test_it_prints_what_it_has_and_imports_no_library() -> None:
    assert json.loads(run_python("catalogue.py")) == [entry.as_json() for entry in entries()]
    program = "import sys, doom.catalogue as c; list(c.entries()); print(*sys.modules)"
    assert not {"vizdoom", "numpy"} & set(run_python("-c", program).split())


def test_ids_are_unique() -> None:
    ids = [entry.id for entry in entries()]
    assert len(set(ids)) == len(ids) == 12 + 1 + 32 + 36


def test_every_scenario_that_one_player_can_play_is_in_it() -> None:
    assert {entry.config for entry in entries()} == {path.stem for path in CONFIGS.glob("*.cfg")} - LEFT_OUT


@pytest.mark.parametrize("config", sorted({entry.config for entry in entries()}))
def test_buttons_are_those_of_the_scenario_that_keys_can_press(config: str) -> None:
    game: Any = vizdoom.DoomGame()
    game.load_config(str(CONFIGS / f"{config}.cfg"))
    pressable = [button.name for button in game.get_available_buttons() if not button.name.endswith("_DELTA")]
    for entry in entries():
        if entry.config == config:
            assert sorted(entry.buttons) == sorted(pressable)
