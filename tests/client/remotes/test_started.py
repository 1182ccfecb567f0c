import os
import signal
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes import parse
from pluriverse.remotes.address import Address
from pluriverse.remotes.engine import Engine
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.local import LocalEngine, LocalRemote
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes.started import StartedRemotes
from support.leftovers import Leftovers
from support.waiting import DEADLINE_S, until

PONG = "gym-core.PongDeterministic-v3"


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

    monkeypatch.setattr("pluriverse.remotes.started.wait_until_ready", ready_at_once)
    return StartedRemotes(n, engine, start_timeout_s=DEADLINE_S)


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


@pytest.fixture
def warm() -> Generator[Any]:
    leftovers = Leftovers()
    remotes: Any = parse("local:1?warm=1", PONG)
    yield remotes
    remotes.close()
    leftovers.assert_none()


def kill(remote: LocalRemote) -> None:
    os.killpg(remote.process.pid, signal.SIGKILL)
    remote.process.wait()


@pytest.mark.slow
@pytest.mark.display
def test_a_spare_takes_the_place_of_one_that_died_and_another_is_started(warm: Any) -> None:
    (first,) = warm.start(no_progress)
    until(lambda: warm._spares)
    (spare,) = warm._spares
    kill(warm._remotes[0])
    assert warm.replace(0) == spare.address != first
    assert why_not_ready(spare.address) is None
    until(lambda: warm._spares)


@pytest.mark.slow
@pytest.mark.display
def test_a_spare_that_died_is_not_taken(warm: Any) -> None:
    warm.start(no_progress)
    until(lambda: warm._spares)
    (spare,) = warm._spares
    kill(spare)
    kill(warm._remotes[0])
    address = warm.replace(0)
    assert address != spare.address
    assert why_not_ready(address) is None


@pytest.mark.slow
@pytest.mark.display
def test_no_more_start_at_once_than_their_machine_can(monkeypatch: pytest.MonkeyPatch) -> None:
    starting: set[LocalRemote] = set()
    most = 0
    make, started = LocalEngine.make, LocalEngine.started

    def begun(engine: LocalEngine) -> LocalRemote:
        nonlocal most
        remote = make(engine)
        starting.add(remote)
        most = max(most, len(starting))
        return remote

    def over(engine: LocalEngine, remote: LocalRemote) -> None:
        starting.discard(remote)
        started(engine, remote)

    monkeypatch.setattr(LocalEngine, "STARTED_AT_ONCE", 2)
    monkeypatch.setattr(LocalEngine, "make", begun)
    monkeypatch.setattr(LocalEngine, "started", over)
    leftovers = Leftovers()
    remotes = parse("local:4", PONG)
    assert [why_not_ready(address) for address in remotes.start(no_progress)] == [None] * 4
    remotes.close()
    assert most == 2
    leftovers.assert_none()
