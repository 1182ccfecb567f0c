"""A server in the place of Agones' sidecar."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from aiohttp import web
from pluriverse_server.remote.agones import HEALTH


class Sidecar:
    """Hears what is posted."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heard: list[str] = []
        self.status = 200

    @property
    def changes(self) -> list[str]:
        """What it heard but for health."""
        return [path for path in self.heard if path != HEALTH]

    @contextlib.asynccontextmanager
    async def up(self) -> AsyncGenerator[None]:
        """Listen, until the end of the context."""
        app = web.Application()
        app.router.add_post("/{path}", self._hear)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        try:
            yield
        finally:
            await runner.cleanup()

    async def _hear(self, request: web.Request) -> web.Response:
        assert await request.json() == {}
        if self.status == 200:
            self.heard.append(request.path)
        return web.json_response({}, status=self.status)
