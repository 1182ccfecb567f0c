"""The runtime's own modules, a display for its engine, and its program with the test at the other end of its socket."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

RUNTIME = Path(__file__).parents[3] / "runtimes" / "doom"
sys.path.insert(0, str(RUNTIME))

from doom.engine import Engine  # noqa: E402
from support.gym_core import DEADLINE_S, Player  # noqa: E402
from support.xvfb import Xvfb, xvfb  # noqa: E402


@pytest.fixture(scope="module")
def display() -> Iterator[Xvfb]:
    """A display for the module's engines, larger than their windows, which are in its middle."""
    with xvfb() as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the engine leaves its files."""
    before, path = Path.cwd(), tmp_path_factory.mktemp("engine")
    os.chdir(path)
    yield path
    os.chdir(before)


@pytest.fixture(scope="module")
def engine(display: Xvfb, folder: Path) -> Iterator[Engine]:
    """The engine, with no environment yet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", display.name)
        # As in a program's environment; gym-core's modules set it for theirs, with which this engine crashes.
        patch.delenv("SDL_VIDEODRIVER", raising=False)
        engine = Engine()
        yield engine
        engine.close()


@pytest.fixture
def player(display: Xvfb, tmp_path: Path) -> Iterator[Player]:
    player = Player(display, RUNTIME, tmp_path)
    yield player
    # Not killed like other programs: its engine would wait for it for ever, and its shared memory stay.
    player.process.terminate()
    player.process.wait(DEADLINE_S)
    player.close()
