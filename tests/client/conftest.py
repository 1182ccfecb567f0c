from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psutil
import pytest
from support.program import until
from support.remotes import MachineRemote, on_machine
from support.xvfb import Xvfb, xvfb


@pytest.fixture(scope="session")
def tk_display() -> Iterator[Xvfb]:
    """Give all windows of a process one display: Tk stays connected to each, and exits when one of them ends."""
    with xvfb() as server:
        yield server


def programs() -> list[int]:
    """The process ids of gym-core's programs below this one."""
    found: list[int] = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            found += [child.pid] if "main.py" in child.cmdline() else []
    return found


@pytest.fixture(scope="session")
def remote() -> Iterator[MachineRemote]:
    """One that plays gym-core, for all tests that need no more than some episodes."""
    with on_machine() as started:
        # It greets before its program runs, which would be a leftover of the first test.
        until(programs, bool)
        yield started


@pytest.fixture
def address(remote: MachineRemote) -> str:
    """What agents name it by."""
    return remote.address
