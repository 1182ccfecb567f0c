"""The example that learns Pong, for a few steps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest
from support.remotes import ROOT, on_machine

pytest.importorskip("stable_baselines3", reason="stable-baselines3 needs torch, which isn't here")

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


def test_it_says_how_it_is_used() -> None:
    helped = subprocess.run([sys.executable, EXAMPLE, "--help"], capture_output=True, text=True, check=True)
    assert "--clock {lockstep,realtime}" in helped.stdout
