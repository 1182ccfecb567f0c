"""The example that clones a script, from a recording of a few seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from support.later import needs
from support.remotes import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.display, needs("torch")]

EXAMPLE: Final = ROOT / "examples/clone_clicks.py"


def test_a_recording_becomes_a_dataset_and_a_clone_that_plays(tmp_path: Path) -> None:
    recording, saved, curve = tmp_path / "clicks.plrec", tmp_path / "clone.pt", tmp_path / "curve.json"
    environment = {**os.environ, "MINARI_DATASETS_PATH": str(tmp_path)}

    def run(*command: object) -> str:
        told = [sys.executable, *map(str, command)]
        return subprocess.run(told, env=environment, capture_output=True, text=True, timeout=300, check=True).stdout

    run(EXAMPLE, "--teach", recording, "--seconds", 15)
    run(
        "-m", "pluriverse.cli", "export", recording, "--minari", "clicks/script-v0", "--fps", 10, "--actions", "pointer"
    )
    run(EXAMPLE, "--learn", "clicks/script-v0", "--epochs", 2, "--save", saved, "--curve", curve)
    losses = [point["loss"] for point in json.loads(curve.read_text())["points"]]
    assert losses[1] < losses[0]
    assert "the clone: " in run(EXAMPLE, "--load", saved, "--play", 2)
