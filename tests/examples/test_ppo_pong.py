import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest
from support.later import needs
from support.remotes import ROOT, on_machine

pytestmark = [pytest.mark.slow, pytest.mark.display, needs("torch")]

EXAMPLE: Final = ROOT / "examples/ppo_pong.py"


@pytest.fixture(scope="module")
def remote() -> Generator[str]:
    with on_machine() as started:
        yield started.address


def run(*options: object) -> str:
    command = [sys.executable, EXAMPLE, *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
def test_it_learns_in_either_kind_of_time_and_writes_its_curve(clock: str, remote: str, tmp_path: Path) -> None:
    curve = tmp_path / "curve.json"
    said = run("--clock", clock, "--remotes", remote, "--envs", 1, "--steps", 128, "--delay", 2, "--curve", curve)
    written = json.loads(curve.read_text())
    assert (written["what"], written["delay"]) == ("ppo_pong", 2)
    assert [point["frames"] for point in written["points"]] == [512]
    assert "128 steps" in said


def test_what_was_learnt_is_learnt_on_and_evaluated(remote: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.pt", tmp_path / "second.pt"
    run("--remotes", remote, "--envs", 1, "--steps", 128, "--save", first)
    run("--remotes", remote, "--envs", 1, "--steps", 128, "--load", first, "--save", second)
    assert first.read_bytes() != second.read_bytes()
    told = [*("--agent", f"{EXAMPLE}:Learnt"), *("--task", "pong", "--modes", "paused", "--seeds", "1")]
    evaluated = subprocess.run(
        [sys.executable, "-m", "pluriverse.cli", "eval", "realtime", *told, "--remotes", remote, "--out", tmp_path],
        env={**os.environ, "PPO_PONG": str(second)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert evaluated.returncode == 0, evaluated.stdout + evaluated.stderr
    (episode,) = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert (episode["task"], episode["error"]) == ("pong", None)
    assert episode["acts"] > 0
