"""The example that learns Pong, for a few steps."""

from __future__ import annotations

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

pytestmark = [pytest.mark.slow, pytest.mark.display, needs("stable_baselines3")]

EXAMPLE: Final = ROOT / "examples/ppo_pong.py"


@pytest.fixture(scope="module")
def remote() -> Generator[str]:
    with on_machine() as started:
        yield started.address


@pytest.mark.parametrize("clock", ["lockstep", "realtime"])
def test_it_learns_in_either_kind_of_time_and_writes_its_curve(clock: str, remote: str, tmp_path: Path) -> None:
    curve = tmp_path / "curve.json"
    options = ["--clock", clock, "--remotes", remote, "--envs", "1", "--rollout", "64", "--steps", "128"]
    learnt = subprocess.run(
        [sys.executable, EXAMPLE, *options, "--curve", curve], capture_output=True, text=True, timeout=120, check=False
    )
    assert learnt.returncode == 0, learnt.stderr
    written = json.loads(curve.read_text())
    assert (written["clock"], written["envs"]) == (clock, 1)
    assert [point["steps"] for point in written["points"]] == [64, 128]
    assert written["points"][0]["minutes"] < written["points"][1]["minutes"]
    assert "128 steps" in learnt.stdout


def test_what_was_learnt_is_evaluated(remote: str, tmp_path: Path) -> None:
    saved = tmp_path / "ppo_pong.zip"
    options = ["--remotes", remote, "--envs", "1", "--rollout", "64", "--steps", "64", "--save", saved]
    subprocess.run([sys.executable, EXAMPLE, *options], capture_output=True, timeout=120, check=True)
    told = [*("--agent", f"{EXAMPLE}:Learnt"), *("--task", "pong", "--modes", "paused", "--seeds", "1")]
    evaluated = subprocess.run(
        [sys.executable, "-m", "pluriverse.cli", "eval", "realtime", *told, "--remotes", remote, "--out", tmp_path],
        env={**os.environ, "PPO_PONG": str(saved)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert evaluated.returncode == 0, evaluated.stdout + evaluated.stderr
    (episode,) = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert (episode["task"], episode["error"]) == ("pong", None)
    assert episode["acts"] > 0
