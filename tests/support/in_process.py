"""A whole remote within this process, and who is on it."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pluriverse_server.remote.remote import Remote
from pluriverse_server.settings import DisplayBackend, Settings
from support.agent import Agent, connected
from support.ports import free_port
from support.served import PASSWORD
from support.toy import Process, Toy
from support.waiting import DEADLINE_S, eventually


def make_remote(directory: Path, env_id: str | None = None, **settings: Any) -> Remote:
    ports: dict[str, Any] = {"vnc_port": free_port(), "rewarder_port": free_port()}
    return Remote(Settings(directory, env_id, password=PASSWORD, **ports, **settings))


@contextlib.asynccontextmanager
async def running(remote: Remote) -> AsyncGenerator[asyncio.Task[None]]:
    """Begins when the remote has greeted; why it doesn't is raised."""
    started = asyncio.Event()
    task = asyncio.create_task(remote.run(lambda _: started.set()))
    waiting = asyncio.create_task(started.wait())
    try:
        await asyncio.wait({task, waiting}, timeout=DEADLINE_S, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        assert started.is_set()
        yield task
    finally:
        waiting.cancel()
        remote.stop()
        await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def playing(directory: Path, env_id: str | None = None, **settings: Any) -> AsyncGenerator[tuple[Remote, Agent]]:
    remote = make_remote(directory, env_id, **settings)
    async with running(remote), connected(remote.settings.rewarder_port, PASSWORD) as agent:
        yield remote, agent


@dataclass
class Up:
    """A remote whose program is the toy's ``process``, and its task."""

    toy: Toy
    remote: Remote
    running: asyncio.Task[None]
    process: Process
    port: int
    vnc_port: int

    def agent(self) -> contextlib.AbstractAsyncContextManager[Agent]:
        return connected(self.port, PASSWORD)

    async def next_episode(self) -> Process:
        process = await self.toy.process()
        await process.begin()
        return process


@contextlib.asynccontextmanager
async def remote_up(
    directory: Path, backend: DisplayBackend = "xvfb", *, overlay: bool = False, **others: Any
) -> AsyncGenerator[Up]:
    """Begins with the first episode."""
    toy = await Toy.make(directory, overlay=overlay)
    remote = make_remote(directory, display_backend=backend, **others)
    try:
        async with running(remote) as task:
            process = await toy.process()
            await process.begin()
            await eventually(lambda: remote.service.ongoing)
            yield Up(toy, remote, task, process, remote.settings.rewarder_port, remote.settings.vnc_port)
    finally:
        await toy.close()
