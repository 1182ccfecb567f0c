"""One remote in lockstep for all agents."""

from collections.abc import Generator

import pytest
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from support.evaluated import task


@pytest.fixture(scope="session")
def lockstep() -> Generator[Play]:
    with Play(task(), parse_modes("paused")[0], "local:1") as play:
        yield play


@pytest.fixture
def play(lockstep: Play) -> Play:
    """A task of a second; a test may give it another."""
    lockstep.task = task(seconds=1)
    return lockstep
