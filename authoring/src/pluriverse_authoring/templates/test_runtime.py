"""The runtime is valid, and gives the rewards that its recordings' labels have. Run it with pytest."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def run(*words: str) -> None:
    """Run a command of pluriverse-server on this runtime; what it prints is shown where it fails."""
    command = [sys.executable, "-m", "pluriverse_server", *words]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr


def test_it_is_valid() -> None:
    """No key is misspelt, and nothing is missing."""
    run("validate", str(FOLDER))


@pytest.mark.skipif(not list(FOLDER.glob("recordings/*.plrec")), reason="pluriverse-server record makes a recording")
def test_rewards_are_those_that_were_labelled() -> None:
    """Each recording is read again, and compared with its labels."""
    run("score", "--no-write", str(FOLDER))
