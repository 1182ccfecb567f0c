"""A listening socket of the rewarder port, whose connections are counted."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncGenerator, Callable
from typing import cast

from aiohttp import web

from pluriverse_server.process import serve
from pluriverse_server.vnc_proxy.pump import Half, join

from .http_auth import HttpAuth


class Site(web.BaseSite):
    def __init__(
        self, runner: web.AppRunner, listener: socket.socket, http_auth: HttpAuth, ssl_context: ssl.SSLContext | None
    ) -> None:
        super().__init__(runner, ssl_context=ssl_context)
        self._listener = listener
        self._http_auth = http_auth

    @property
    def name(self) -> str:
        return str(self._listener.getsockname())

    async def start(self) -> None:
        await super().start()
        handler = cast("Callable[[], web.RequestHandler]", self._runner.server)
        self._server = await serve(lambda: _Counted(handler(), self._http_auth), self._listener, self._ssl_context)


class _Counted(asyncio.Protocol):
    _transport: asyncio.Transport

    def __init__(self, handler: web.RequestHandler, http_auth: HttpAuth) -> None:
        self._handler = handler
        self._http_auth = http_auth

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._http_auth.opened(self._transport)
        self._handler.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._http_auth.closed(self._transport)
        self._handler.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._handler.data_received(data)

    def eof_received(self) -> bool | None:
        return self._handler.eof_received()

    def pause_writing(self) -> None:
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._handler.resume_writing()

    def leave_to(self, successor: asyncio.Protocol) -> None:
        """Let another protocol have the connection, which has ended for the web server."""
        self._transport.set_protocol(successor)
        successor.connection_made(self._transport)
        # It would close it.
        self._handler.transport = None
        self.connection_lost(None)


class _SecuredHalf(Half):
    def __init__(self) -> None:
        self.lost = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost.set()


@contextlib.asynccontextmanager
async def taken_away(transport: asyncio.Transport) -> AsyncGenerator[socket.socket]:
    """Yield a socket on which a connection goes on that has ended for the web server, without a word to the peer.

    With TLS it is one end of a pair: this event loop carries bytes between the other end and the peer, and the context
    ends with the connection, since the web server would say something at the end of its request.
    """
    if transport.get_extra_info("ssl_object") is None:
        connection = transport.get_extra_info("socket").dup()
        transport.abort()
        yield connection
        return
    # What the peer sends meanwhile isn't the web server's.
    transport.pause_reading()
    ours, theirs = socket.socketpair()
    secured, plain = _SecuredHalf(), Half()
    await asyncio.get_running_loop().connect_accepted_socket(lambda: plain, ours)
    if transport.is_closing():
        plain.transport.abort()
        yield theirs
        return
    join(secured, plain)
    cast("_Counted", transport.get_protocol()).leave_to(secured)
    transport.resume_reading()
    try:
        yield theirs
        await secured.lost.wait()
    finally:
        transport.abort()
