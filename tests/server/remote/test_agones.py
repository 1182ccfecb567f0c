"""What the sidecar of Agones is told: a real HTTP server in its place."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from pluriverse_server.remote import agones
from pluriverse_server.remote.agones import ALLOCATE, HEALTH, READY, SHUTDOWN, Condition, keep_told
from support.ports import free_port
from support.sidecar import Sidecar
from support.waiting import eventually

STARTING = Condition(ready=False, well=False, leased=False)
IDLE = Condition(ready=True, well=True, leased=False)
LEASED = Condition(ready=True, well=True, leased=True)


class Told:
    """A task that tells, of a condition that the test sets."""

    def __init__(self, port: int) -> None:
        self.condition = STARTING
        self.task = asyncio.create_task(keep_told(port, lambda: self.condition))

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})
        assert self.task.cancelled()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agones, "LOOK_S", 0.005)
    monkeypatch.setattr(agones, "HEALTH_S", 0.02)


async def test_ready_once_the_environment_runs_allocated_while_leased_and_shutdown_at_the_end() -> None:
    sidecar = Sidecar(free_port())
    async with sidecar.up():
        told = Told(sidecar.port)
        told.condition = replace(STARTING, well=True)
        await eventually(lambda: sidecar.heard)
        assert not sidecar.changes
        told.condition = IDLE
        await eventually(lambda: sidecar.changes == [READY])
        told.condition = LEASED
        await eventually(lambda: sidecar.changes == [READY, ALLOCATE])
        # A reset in between is nothing to Agones.
        told.condition = replace(LEASED, ready=False)
        heard = len(sidecar.heard)
        await eventually(lambda: len(sidecar.heard) > heard + 2)
        told.condition = replace(IDLE, ready=False)
        await eventually(lambda: len(sidecar.heard) > heard + 4)
        told.condition = IDLE
        await eventually(lambda: sidecar.changes == [READY, ALLOCATE, READY])
        await told.end()
    assert sidecar.changes == [READY, ALLOCATE, READY, SHUTDOWN]


async def test_health_is_posted_again_and_again_but_not_while_the_screen_hangs() -> None:
    sidecar = Sidecar(free_port())
    async with sidecar.up():
        told = Told(sidecar.port)
        told.condition = IDLE
        await eventually(lambda: sidecar.heard.count(HEALTH) > 3)
        told.condition = replace(LEASED, well=False)
        await eventually(lambda: ALLOCATE in sidecar.heard)
        assert HEALTH not in sidecar.heard[sidecar.heard.index(ALLOCATE) :]
        await told.end()


async def test_sidecar_that_starts_later_or_refuses_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    sidecar = Sidecar(free_port())
    sidecar.status = 500
    told = Told(sidecar.port)
    told.condition = IDLE
    await eventually(lambda: "doesn't answer" in caplog.text)
    async with sidecar.up():
        sidecar.status = 200
        await eventually(lambda: sidecar.changes == [READY])
        await told.end()
    assert caplog.text.count("doesn't answer") == 1


async def test_without_a_sidecar_it_ends_all_the_same() -> None:
    told = Told(free_port())
    await asyncio.sleep(0)
    await told.end()
