"""Remotes that processes share, each real: taken, given back by closing or dying, replaced, waited for."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pluriverse.adapters.computer import AsyncComputer, Computer
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes import Shared, parse, share
from pluriverse.remotes.manager import no_progress
from support.leftovers import Leftovers
from support.waiting import DEADLINE_S

pytestmark = [pytest.mark.slow, pytest.mark.display]

POLE = "gym-core.CartPole-v0"


@pytest.fixture(scope="module")
def shared() -> Generator[Shared]:
    leftovers = Leftovers()
    with share("local:2", POLE) as shared:
        yield shared
    shared.close()
    leftovers.assert_none()


def computer(shared: Shared, **options: Any) -> Computer:
    return Computer(POLE, shared.url, clock="lockstep", **options)


def test_who_finds_none_that_is_free_waits_and_is_told_after_a_while(shared: Shared) -> None:
    with computer(shared) as one, ThreadPoolExecutor() as threads:
        with computer(shared):
            with pytest.raises(RemoteUnavailable, match=r"no shared remote became free within 0\.1 s"):
                computer(shared, start_timeout_s=0.1)
            waits = threads.submit(computer, shared)
        with waits.result(DEADLINE_S) as other:
            assert not other.begin(seed=1).over
            assert not one.begin(seed=1).over


PLAYER = f"""
import sys
from pluriverse.adapters.computer import Computer
computer = Computer({POLE!r}, sys.argv[1], clock="lockstep")
computer.begin(seed=1)
print("plays", flush=True)
sys.stdin.read()
"""


def test_a_process_that_is_killed_gives_back_what_it_took(shared: Shared) -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with computer(shared), subprocess.Popen([sys.executable, "-c", PLAYER, shared.url], **pipes) as player:
        assert player.stdout is not None
        assert player.stdout.readline() == "plays\n"
        player.kill()
        with computer(shared) as other:
            assert not other.begin(seed=1).over


def test_one_that_died_is_replaced_when_it_is_next_taken_and_while_it_is_used(shared: Shared) -> None:
    started: Any = shared._manager  # pyright: ignore[reportPrivateUsage]

    def kill(index: int) -> None:
        os.killpg(started._remotes[index].process.pid, signal.SIGKILL)

    with computer(shared) as one:
        (free,) = shared._free  # pyright: ignore[reportPrivateUsage]
        kill(free)
        with computer(shared) as other:
            assert not other.begin(seed=1).over
            kill(1 - free)
            assert not one.begin(seed=1).over


async def test_many_tasks_take_turns_and_one_that_is_cancelled_leaves_none_taken(shared: Shared) -> None:
    async def rollout(seed: int) -> bool:
        async with AsyncComputer(POLE, shared.url, clock="lockstep") as screen:
            return (await screen.begin(seed)).over

    cancelled = [asyncio.create_task(rollout(seed)) for seed in range(4)]
    await asyncio.sleep(0)
    for task in cancelled:
        task.cancel()
    assert await asyncio.gather(*map(rollout, range(6))) == [False] * 6


def test_what_nobody_shares_is_told_of(shared: Shared) -> None:
    with pytest.raises(RemoteUnavailable, match="no remotes are shared at /nowhere"):
        parse("shared:/nowhere", POLE).start(no_progress)
