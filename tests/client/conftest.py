from collections.abc import Iterator

import pytest
from support.process_tree import children
from support.remotes import MachineRemote, on_machine
from support.waiting import until
from support.xvfb import Xvfb, xvfb


@pytest.fixture(scope="session")
def tk_display() -> Iterator[Xvfb]:
    """Give all windows of a process one display: Tk stays connected to each, and exits when one of them ends."""
    with xvfb() as server:
        yield server


@pytest.fixture(scope="session")
def remote() -> Iterator[MachineRemote]:
    """One that plays gym-core, for all tests that need no more than some episodes."""
    with on_machine() as started:
        # It greets before its program runs, which would be a leftover of the first test.
        until(lambda: children("main.py"))
        yield started


@pytest.fixture
def address(remote: MachineRemote) -> str:
    """What agents name it by."""
    return remote.address
