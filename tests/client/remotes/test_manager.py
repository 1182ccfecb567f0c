"""What all remotes that are started here have in common."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.manager import StartedRemotes, no_progress
from support.waiting import DEADLINE_S


class Made:
    """A remote that is ready when it is made."""

    def __init__(self) -> None:
        self.address = Address("127.0.0.1")
        self.stopped = False

    def require_running(self) -> None:
        pass

    def stop(self) -> None:
        self.stopped = True


class Together(StartedRemotes[Made]):
    """Remotes whose making waits until as many are being made as there are."""

    def __init__(self, n: int) -> None:
        super().__init__(n, "a test's", start_timeout_s=DEADLINE_S)
        self.made: list[Made] = []
        self.all_are_being_made = threading.Barrier(n + 1)
        self.go_on = threading.Event()

    def _make(self, index: int) -> Made:
        self.all_are_being_made.wait(DEADLINE_S)
        self.go_on.wait(DEADLINE_S)
        self.made.append(Made())
        return self.made[-1]

    def _wait_for(self, remote: Made, timeout_s: float) -> Address:
        return remote.address

    def _stop_all(self, remotes: Sequence[Made]) -> None:
        for remote in remotes:
            remote.stop()

    def _release(self) -> None:
        pass


def test_remotes_are_made_side_by_side() -> None:
    remotes = Together(3)
    starting = threading.Thread(target=remotes.start, args=[no_progress])
    starting.start()
    remotes.all_are_being_made.wait(DEADLINE_S)
    remotes.go_on.set()
    starting.join(DEADLINE_S)
    assert len(remotes.made) == 3
    remotes.close()
    assert all(made.stopped for made in remotes.made)


def test_closing_does_not_wait_for_remotes_that_are_being_made_and_leaves_none() -> None:
    remotes = Together(2)
    errors: list[BaseException] = []

    def start() -> None:
        with pytest.raises(RemoteUnavailable, match="being closed") as told:
            remotes.start(no_progress)
        errors.append(told.value)

    starting = threading.Thread(target=start)
    starting.start()
    remotes.all_are_being_made.wait(DEADLINE_S)
    remotes.close()
    assert not remotes.made
    remotes.go_on.set()
    starting.join(DEADLINE_S)
    assert errors
    for thread in threading.enumerate():
        if thread.name.startswith("pluriverse: start"):
            thread.join(DEADLINE_S)
    assert [made.stopped for made in remotes.made] == [True, True]
