"""The daemon without a screen: real sockets, a real program (``support.toy``), and the episode machine between them."""

import contextlib
import socket
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pluriverse_server.access.secrets import Secrets
from pluriverse_server.access.tokens import Token, parse_tokens
from pluriverse_server.certificate import Certificate
from pluriverse_server.daemon.http import Views, listen, make_app
from pluriverse_server.daemon.http_auth import HttpAuth
from pluriverse_server.daemon.operations import Operations
from pluriverse_server.manifest.runtime import load
from pluriverse_server.programs.catalogue import load_catalogue
from pluriverse_server.remote.environment import EnvironmentService
from pluriverse_server.settings import Settings
from pluriverse_server.vnc_proxy.vnc_proxy import VncProxy
from support.agent import Agent, connected
from support.ports import free_port
from support.toy import Process, Toy
from support.waiting import eventually

PASSWORD = "secret12"

# One of each role.
TOKENS = """
agent robot robots-token
observer eye observers-token
person editor editors-token
operator ops operators-token
"""


@dataclass
class Served:
    """A daemon that listens, and the program behind it. ``screen_answers`` is what its screen would say.

    ``draining``: how often it was told to drain.
    """

    toy: Toy
    service: EnvironmentService
    http_auth: HttpAuth
    vnc_proxy: VncProxy
    port: int
    screen_answers: bool = True
    draining: int = 0

    @property
    def episode_id(self) -> int:
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


async def no_screen(connection: socket.socket, address: str, who: Token) -> None:
    """Hang up on who wants a screen."""
    del address, who
    connection.close()


@contextlib.asynccontextmanager
async def serving(
    directory: Path,
    *,
    toy_options: dict[str, Any] | None = None,
    tokens: str | None = None,
    **settings: Any,
) -> AsyncGenerator[Served]:
    """Serve the toy runtime from ``directory``; ``tokens`` is a list of them."""
    toy = await Toy.make(directory, **(toy_options or {}))
    manifest = load(directory)
    catalogue = await load_catalogue(directory, manifest)

    def has_seat(token: str | None) -> bool:
        return service.sessions.has_seat(token)

    secrets = Secrets(PASSWORD, parse_tokens(tokens) if tokens is not None else None)
    http_auth = HttpAuth(secrets, has_seat)
    vnc_proxy = VncProxy(directory / "vnc.sock", None)
    options = Settings(directory, password=PASSWORD, **settings)
    service = EnvironmentService(options, manifest, catalogue, directory, http_auth, vnc_proxy, lambda: None)

    def drain() -> None:
        served.draining += 1

    port = free_port()
    served = Served(toy, service, http_auth, vnc_proxy, port)
    operations = Operations(service.leases, lambda: service.status()["env_id"], service.restart, drain)
    views = Views(
        service.status,
        service.render_metrics,
        lambda: served.screen_answers,
        directory / "viewer.sock",
        directory / "watchers.sock",
        no_screen,
        directory / "sound",
    )
    app, _ = make_app(service.sessions, http_auth, views, operations)
    await service.start(manifest.runtime.default_env)
    service.program.put_on({})
    context = Certificate.made(()).context if settings.get("tls") else None
    runner = await listen(app, http_auth, settings.get("host", "127.0.0.1"), port, context)
    try:
        yield served
    finally:
        await service.stop("the test is over")
        await runner.cleanup()
        await toy.close()


@contextlib.asynccontextmanager
async def playing(directory: Path, **options: Any) -> AsyncGenerator[tuple[Served, Agent, Process]]:
    """Serve as ``serving`` does, with an agent, until the first episode runs."""
    async with serving(directory, **options) as served, served.agent() as agent:
        yield served, agent, await served.running()
