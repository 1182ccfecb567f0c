"""The runtime's own modules, and its program on a real display with the test at the other end of its socket."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

RUNTIME = Path(__file__).parents[3] / "runtimes" / "gym-core"
sys.path.insert(0, str(RUNTIME))

# Box2D's SWIG wrapper warns while it is loaded, and crashes the process where warnings are errors.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import Box2D  # noqa: F401  # pyright: ignore[reportUnusedImport, reportMissingTypeStubs]

from support.gym_core import Player  # noqa: E402
from support.xvfb import Xvfb, xvfb  # noqa: E402


@pytest.fixture(scope="module")
def display() -> Iterator[Xvfb]:
    """A display for the module's programs, one after the other."""
    with xvfb() as server:
        yield server


@pytest.fixture
def play(display: Xvfb, tmp_path: Path) -> Iterator[Callable[[], Player]]:
    """Starts the program; it's killed at the end if it still runs."""
    players: list[Player] = []

    def start() -> Player:
        player = Player(display, RUNTIME, tmp_path)
        players.append(player)
        return player

    yield start
    for player in players:
        player.close()


@pytest.fixture
def player(play: Callable[[], Player]) -> Player:
    return play()


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *arguments], cwd=RUNTIME, capture_output=True, text=True, timeout=60)

    return run
