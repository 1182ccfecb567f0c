"""A listening socket of the rewarder port, whose connections are counted."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import cast

from aiohttp import web

from pluriverse_server.gate.tls_front import TlsFront
from pluriverse_server.process import serve
from pluriverse_server.tasks import start_task

from .door import Door


class Site(web.BaseSite):
    """Serves an application on a socket; its connections come by the door."""

    def __init__(self, runner: web.AppRunner, listener: socket.socket, door: Door, front: TlsFront | None) -> None:
        """``front``: with TLS, which it takes away."""
        super().__init__(runner)
        self._listener = listener
        self._door = door
        self._front = front

    @property
    def name(self) -> str:
        """Its address."""
        return str(self._listener.getsockname())

    async def start(self) -> None:
        """Serve."""
        await super().start()
        handler = cast("Callable[[], asyncio.Protocol]", self._runner.server)
        if self._front is None:
            self._server = await serve(lambda: _Counted(handler(), self._door), self._listener)
            return
        loop = asyncio.get_running_loop()

        async def take(plain: socket.socket) -> None:
            await loop.connect_accepted_socket(lambda: _Counted(handler(), self._door), plain)

        def taken(plain: socket.socket) -> None:
            start_task(take(plain), "rewarder port", plain.close)

        await self._front.serve(self._listener, lambda plain: loop.call_soon_threadsafe(taken, plain))


class _Counted(asyncio.Protocol):
    """aiohttp's protocol, with its connection counted while it lasts."""

    def __init__(self, handler: asyncio.Protocol, door: Door) -> None:
        self._handler = handler
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._door.opened(self._transport)
        self._handler.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.closed(self._transport)
        self._handler.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._handler.data_received(data)

    def eof_received(self) -> bool | None:
        return self._handler.eof_received()

    def pause_writing(self) -> None:
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._handler.resume_writing()
