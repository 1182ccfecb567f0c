"""The catalogue: the games that come with the runtime, and those of a user's own folder."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

RUNTIME: Final = Path(__file__).parents[3] / "runtimes/flashgames"

GAME: Final = """
[[games]]
id = "flashgames.Own-v0"
title = "Own"
swf = "own.swf"
width = 550
height = 400
fps = 24
score = { field = "hud.score" }
time_limit_s = 60
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    for name in ("catalogue.py", "games.toml"):
        shutil.copy(RUNTIME / name, tmp_path)
    (tmp_path / "swf").mkdir()
    return tmp_path


def run(runtime: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "catalogue.py"], cwd=runtime, capture_output=True, text=True)


def listed(runtime: Path) -> list[dict[str, Any]]:
    done = run(runtime)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_own_table_adds_games_whose_movies_lie_beside_it(runtime: Path) -> None:
    (runtime / "swf/games.toml").write_text(GAME)
    own = listed(runtime)[-1]
    assert (own["id"], own["swf"], own["file"]) == ("flashgames.Own-v0", "swf/own.swf", str(runtime / "swf/own.swf"))


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ('{ field = "hud.score" }', "{}", "games.0.score: Value error, expected one of external, static and field"),
        ("fps = 24", 'fps = 24\nstart = [{ key = "a", wait = 1.0 }]', "expected one of click, key, call and wait"),
        ('"own.swf"', '"../../own.swf"', "flashgames.Own-v0: swf: ../../own.swf is not in"),
        ("[[games]]", "[[games", "swf/games.toml: "),
    ],
)
def test_mistake_in_ones_own_table_is_named_with_its_file(
    runtime: Path, right: str, wrong: str, complaint: str
) -> None:
    (runtime / "swf/games.toml").write_text(GAME.replace(right, wrong))
    done = run(runtime)
    assert done.returncode == 1
    assert str(runtime / "swf/games.toml") in done.stderr
    assert complaint in done.stderr
