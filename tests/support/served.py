"""The daemon without a screen: real sockets, a real program (``support.toy``), and the episode machine between them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pluriverse_server.daemon.door import Door
from pluriverse_server.daemon.http import Views, listen, make_app
from pluriverse_server.manifest.runtime import load
from pluriverse_server.programs.catalogue import load_catalogue
from pluriverse_server.remote.environment import EnvironmentService
from pluriverse_server.settings import Settings
from support.agent import Agent, connected
from support.ports import free_port
from support.toy import Process, Toy
from support.waiting import eventually

PASSWORD = "secret12"


@dataclass
class Served:
    """A daemon that listens, and the program behind it. ``screen_answers`` is what its screen would say."""

    toy: Toy
    service: EnvironmentService
    door: Door
    port: int
    screen_answers: bool = True

    @property
    def episode_id(self) -> int:
        """The episode under way."""
        described = self.service.description()
        assert described is not None
        return described[1]

    def agent(self, **options: Any) -> contextlib.AbstractAsyncContextManager[Agent]:
        """Connect with the right password."""
        return connected(self.port, PASSWORD, **options)

    async def running(self) -> Process:
        """The program, its first episode running."""
        process = await self.toy.process()
        await process.begin()
        await eventually(lambda: self.service.status()["env_state"] == "running")
        return process


@contextlib.asynccontextmanager
async def serving(
    directory: Path, *, toy_options: dict[str, Any] | None = None, **settings: Any
) -> AsyncGenerator[Served]:
    """Serve the toy runtime from ``directory``."""
    toy = await Toy.make(directory, **(toy_options or {}))
    manifest = load(directory)
    catalogue = await load_catalogue(directory, manifest)
    service = EnvironmentService(
        Settings(directory, password=PASSWORD, **settings), manifest, catalogue, directory, lambda: None
    )
    door = Door(PASSWORD)
    port = free_port()
    served = Served(toy, service, door, port)
    views = Views(service.status, service.render_metrics, lambda: served.screen_answers, directory / "viewer.sock")
    app, _ = make_app(service.hub, door, views)
    await service.start(manifest.runtime.default_env)
    service.program.put_on({})
    runner = await listen(app, door, settings.get("host", "127.0.0.1"), port)
    try:
        yield served
    finally:
        await service.stop("the test is over")
        await runner.cleanup()
        await toy.close()
