import threading
from collections.abc import Callable

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.engine import Engine
from pluriverse.remotes.manager import StartedRemotes, no_progress
from pluriverse.remotes.pool import Pool
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


class Together(Engine[Made]):
    """Makes remotes once as many are being made as there are to be."""

    what = "a test's"

    def __init__(self, n: int) -> None:
        self.made: list[Made] = []
        self.all_are_being_made = threading.Barrier(n + 1)
        self.go_on = threading.Event()

    def make(self) -> Made:
        self.all_are_being_made.wait(DEADLINE_S)
        self.go_on.wait(DEADLINE_S)
        self.made.append(Made())
        return self.made[-1]


def managed(engine: Together, n: int, monkeypatch: pytest.MonkeyPatch) -> StartedRemotes[Made]:
    def ready_at_once(address: Address, timeout_s: float, check: Callable[[], None]) -> None:
        check()

    monkeypatch.setattr("pluriverse.remotes.pool.wait_until_ready", ready_at_once)
    return StartedRemotes(n, Pool(engine, start_timeout_s=DEADLINE_S))


def test_remotes_are_made_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Together(3)
    remotes = managed(engine, 3, monkeypatch)
    starting = threading.Thread(target=remotes.start, args=[no_progress])
    starting.start()
    engine.all_are_being_made.wait(DEADLINE_S)
    engine.go_on.set()
    starting.join(DEADLINE_S)
    assert len(engine.made) == 3
    remotes.close()
    assert all(made.stopped for made in engine.made)


def test_closing_does_not_wait_for_remotes_that_are_being_made_and_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Together(2)
    remotes = managed(engine, 2, monkeypatch)
    errors: list[BaseException] = []

    def start() -> None:
        with pytest.raises(RemoteUnavailable, match="being closed") as told:
            remotes.start(no_progress)
        errors.append(told.value)

    starting = threading.Thread(target=start)
    starting.start()
    engine.all_are_being_made.wait(DEADLINE_S)
    remotes.close()
    assert not engine.made
    engine.go_on.set()
    starting.join(DEADLINE_S)
    assert errors
    for thread in threading.enumerate():
        if thread.name.startswith("pluriverse: start"):
            thread.join(DEADLINE_S)
    assert [made.stopped for made in engine.made] == [True, True]
