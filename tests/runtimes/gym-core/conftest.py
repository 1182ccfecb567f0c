"""The runtime's own modules, and its program on a real display with the test at the other end of its socket."""

import sys
import warnings
from collections.abc import Iterator
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
def player(display: Xvfb, tmp_path: Path) -> Iterator[Player]:
    player = Player(display, RUNTIME, tmp_path)
    yield player
    player.close()
