import os
import signal
import tempfile
from collections.abc import Generator
from typing import Any

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes import Pool, open_pool
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.local import LocalEngine, LocalRemote
from pluriverse.remotes.manager import no_progress
from support.leftovers import Leftovers
from support.waiting import DEADLINE_S

pytestmark = [pytest.mark.slow, pytest.mark.display]

PONG = "gym-core.PongDeterministic-v3"


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Generator[Pool[LocalRemote]]:
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        leftovers = Leftovers()
        pool: Pool[Any] = open_pool("local?warm=1", PONG)
        yield pool
        pool.close()
        leftovers.assert_none()


def test_a_spare_is_taken_at_once_and_another_one_started(pool: Pool[LocalRemote]) -> None:
    pool.wait_until_warm(DEADLINE_S)
    assert pool.spares == 1
    taken = pool.take()
    assert why_not_ready(taken.address) is None
    pool.wait_until_warm(DEADLINE_S)
    other = pool.take()
    assert other is not taken
    assert taken.process.poll() is None


def test_a_spare_that_died_is_not_handed_out(pool: Pool[LocalRemote]) -> None:
    pool.wait_until_warm(DEADLINE_S)
    (spare,) = pool._spares  # pyright: ignore[reportPrivateUsage]
    os.killpg(spare.process.pid, signal.SIGKILL)
    taken = pool.take()
    assert taken is not spare
    assert why_not_ready(taken.address) is None


def test_environments_share_a_pool_and_give_back_only_what_they_took(pool: Pool[LocalRemote]) -> None:
    one, other = pool.claim(1), pool.claim(1)
    (first,) = one.start(no_progress)
    (second,) = other.start(no_progress)
    assert first != second
    one.close()
    assert why_not_ready(first) is not None
    assert why_not_ready(second) is None
    with pytest.raises(RemoteUnavailable, match="being closed"):
        one.replace(0)
    other.close()


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
    with open_pool("local", PONG) as pool:
        addresses = pool.claim(4).start(no_progress)
        assert [why_not_ready(address) for address in addresses] == [None] * 4
    assert most == 2
    leftovers.assert_none()
