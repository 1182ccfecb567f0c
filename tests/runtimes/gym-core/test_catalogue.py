import json
import subprocess
import sys
from pathlib import Path

import ale_py
import gymnasium
import minigrid  # noqa: F401  # pyright: ignore[reportUnusedImport, reportMissingTypeStubs]
import pytest
from gym_core import tables
from gym_core.catalogue import Atari, entries
from gymnasium.envs.registration import registry

RUNTIME = Path(__file__).parents[3] / "runtimes" / "gym-core"

GYMNASIUM_MODULES = ("gymnasium.envs.classic_control", "gymnasium.envs.box2d", "gymnasium.envs.toy_text")


def registered(*modules: str) -> set[str]:
    return {id_ for id_, spec in registry.items() if str(spec.entry_point).startswith(modules)}


def run_python(*arguments: str) -> str:
    run = subprocess.run([sys.executable, *arguments], cwd=RUNTIME, capture_output=True, text=True, timeout=60)
    return run.stdout


def test_it_prints_as_json_what_the_validator_takes() -> None:
    printed = json.loads(run_python("catalogue.py"))
    assert printed == [entry.as_json() for entry in entries()]
    always, sometimes = {"id", "fps", "sync", "title", "spaces"}, {"time_limit_s", "options"}
    assert all(set(entry) - sometimes == always for entry in printed)


def test_printing_it_imports_no_library() -> None:
    program = "import sys, gym_core.catalogue as c; list(c.entries()); print(*sys.modules)"
    assert not {"gymnasium", "numpy", "ale_py", "minigrid"} & set(run_python("-c", program).split())


def test_ids_are_unique() -> None:
    ids = [entry.id for entry in entries()]
    assert len(ids) == len(set(ids)) == 104 * 8 * 2 + 4 + 10 + 6 + len(tables.MINIGRID) + len(tables.BABYAI)


def test_all_games_that_one_plays_alone_are_in_it() -> None:
    for_two = {"combat", "joust", "maze_craze", "warlords"}
    roms = {path.stem for path in (Path(ale_py.__file__).parent / "roms").glob("*.bin")}
    assert set(tables.ATARI_GAMES) == roms - for_two


def test_all_of_gymnasium_that_renders_without_more_packages_is_in_it() -> None:
    assert registered(*GYMNASIUM_MODULES) == {*tables.REAL_TIME, *tables.TOY_TEXT, "CartPole-v0"}


def test_all_of_minigrid_that_renders_without_more_packages_is_in_it() -> None:
    needs_more = registered("minigrid.envs.wfc")
    assert registered("minigrid.") - needs_more == {*tables.MINIGRID, *tables.BABYAI}


def test_steps_a_second_are_those_the_environment_was_made_for() -> None:
    for id_, fps in tables.REAL_TIME.items():
        assert gymnasium.make(id_).metadata["render_fps"] == fps, id_  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.parametrize(
    ("id_", "game", "fps", "sync"),
    [
        ("gym-core.PongDeterministic-v3", Atari("pong", 4, 0.0), 60, False),
        ("gym-core.SpaceInvaders-v0", Atari("space_invaders", None, 0.25), 60, False),
        ("gym-core.UpNDown30FPS-v3", Atari("up_n_down", None, 0.0), 30, False),
        ("gym-core.ZaxxonSlow-v0", Atari("zaxxon", None, 0.25), 15, False),
        ("gym-core.AirRaidSync-v3", Atari("air_raid", None, 0.0), 60, True),
        ("gym-core.PongDeterministicSync-v0", Atari("pong", 4, 0.25), 60, True),
        ("gym-core.SpaceInvadersDeterministicSlow-v3", Atari("space_invaders", 3, 0.0), 15, False),
        ("gym-core.SpaceInvadersNoFrameskip-v3", Atari("space_invaders", 1, 0.0), 60, False),
    ],
)
def test_a_variant_is_what_its_name_says(id_: str, game: Atari, fps: float, sync: bool) -> None:
    (entry,) = [entry for entry in entries() if entry.id == id_]
    assert (entry.game, entry.fps, entry.sync) == (game, fps, sync)
