"""The example that learns a game of Debian's, for a few episodes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from support.remotes import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.display]

EXAMPLE: Final = ROOT / "examples/moon_buggy.py"


def run(*options: object) -> str:
    command = [sys.executable, EXAMPLE, "--envs", "1", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def test_weights_that_are_learnt_can_be_played(tmp_path: Path) -> None:
    saved, curve = tmp_path / "weights.npy", tmp_path / "curve.json"
    run("--episodes", 2, "--save", saved, "--curve", curve)
    assert json.loads(curve.read_text())["points"][-1]["episodes"] == 2
    assert "standard errors" in run("--load", saved, "--play", 2)
