"""A whole remote within this process, and an agent on it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from pluriverse_server.remote.remote import Remote
from pluriverse_server.settings import Settings
from support.agent import Agent, connected
from support.ports import free_port
from support.served import PASSWORD
from support.waiting import DEADLINE_S


def make_remote(directory: Path, env_id: str | None = None, **settings: Any) -> Remote:
    ports: dict[str, Any] = {"vnc_port": free_port(), "rewarder_port": free_port()}
    return Remote(Settings(directory, env_id, password=PASSWORD, **ports, **settings))


@contextlib.asynccontextmanager
async def playing(directory: Path, env_id: str | None = None, **settings: Any) -> AsyncGenerator[tuple[Remote, Agent]]:
    """Begins when the remote has greeted; why it doesn't is raised."""
    remote, started = make_remote(directory, env_id, **settings), asyncio.Event()
    running = asyncio.create_task(remote.run(lambda _: started.set()))
    waiting = asyncio.create_task(started.wait())
    try:
        await asyncio.wait({running, waiting}, timeout=DEADLINE_S, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        assert started.is_set()
        async with connected(remote.settings.rewarder_port, PASSWORD) as agent:
            yield remote, agent
    finally:
        waiting.cancel()
        remote.stop()
        await asyncio.gather(running, return_exceptions=True)
