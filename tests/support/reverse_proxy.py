"""A reverse proxy as an ingress is one: it forwards what is below a prefix, HTTP and WebSocket, with TLS or without."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
from aiohttp import WSMsgType, web

DEADLINE_S: Final = 60.0

# Of one connection alone, RFC 9110, section 7.6.1; and what each WebSocket says of itself.
_OWN: Final = {"connection", "keep-alive", "transfer-encoding", "upgrade", "content-length"}
_WEB_SOCKETS: Final = ("sec-websocket-", "date", "server")


@dataclass
class Proxy:
    """A proxy before a port of this machine. ``paths`` are those that it was asked for, with the prefix."""

    target: int
    prefix: str
    port: int = 0
    paths: list[str] = field(default_factory=list[str])

    async def forward(self, request: web.Request) -> web.StreamResponse:
        """Ask the target for what is below the prefix."""
        self.paths.append(request.path)
        path = request.raw_path.removeprefix(self.prefix)
        if path == request.raw_path:
            return web.Response(status=404, text="there is nothing here")
        url = f"http://127.0.0.1:{self.target}{path}"
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OWN}
        async with aiohttp.ClientSession(auto_decompress=False) as session:
            if request.headers.get("Upgrade", "").lower() != "websocket":
                return await self._http(session, request, url, headers)
            ours = {name: value for name, value in headers.items() if not name.lower().startswith("sec-websocket-")}
            try:
                far = await session.ws_connect(url, headers=ours, autoping=False, max_msg_size=0)
            except aiohttp.WSServerHandshakeError:
                # Its words are in the answer to the same request.
                return await self._http(
                    session, request, url, {**headers, "Connection": "Upgrade", "Upgrade": "websocket"}
                )
            async with far:
                return await self._web_socket(request, far)

    async def _http(
        self, session: aiohttp.ClientSession, request: web.Request, url: str, headers: dict[str, str]
    ) -> web.Response:
        async with session.request(request.method, url, headers=headers, data=await request.read()) as answer:
            answered = {name: value for name, value in answer.headers.items() if name.lower() not in _OWN}
            return web.Response(status=answer.status, headers=answered, body=await answer.read())

    async def _web_socket(
        self, request: web.Request, far: aiohttp.ClientWebSocketResponse[Any]
    ) -> web.WebSocketResponse:
        near = web.WebSocketResponse(autoping=False, max_msg_size=0, compress=False)
        for name, value in far._response.headers.items():  # pyright: ignore[reportPrivateUsage] - else it's told nowhere
            if name.lower() not in _OWN and not name.lower().startswith(_WEB_SOCKETS):
                near.headers[name] = value
        await near.prepare(request)
        ways = [asyncio.create_task(_carry(near, far)), asyncio.create_task(_carry(far, near))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.wait(ways)
        for one, another in ((near, far), (far, near)):
            await one.close(code=another.close_code or 1001)
        return near


async def _carry(
    source: web.WebSocketResponse | aiohttp.ClientWebSocketResponse[Any],
    target: web.WebSocketResponse | aiohttp.ClientWebSocketResponse[Any],
) -> None:
    with contextlib.suppress(ConnectionError):
        async for message in source:
            if message.type is WSMsgType.TEXT:
                await target.send_str(message.data)
            elif message.type is WSMsgType.BINARY:
                await target.send_bytes(message.data)
            elif message.type is WSMsgType.PING:
                await target.ping(message.data)
            elif message.type is WSMsgType.PONG:
                await target.pong(message.data)


@contextlib.asynccontextmanager
async def _serving(proxy: Proxy, tls: ssl.SSLContext | None) -> AsyncGenerator[None]:
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", proxy.forward)
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        proxy.port = runner.addresses[0][1]
        yield
    finally:
        await runner.cleanup()


@contextlib.contextmanager
def proxying(target: int, prefix: str, tls: ssl.SSLContext | None = None) -> Generator[Proxy]:
    """A proxy before a port of this machine, on a loop and a thread of its own; ``prefix`` has no slash at its end."""
    proxy, loop = Proxy(target, prefix), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="proxy")
    thread.start()
    stack = contextlib.AsyncExitStack()
    try:
        asyncio.run_coroutine_threadsafe(stack.enter_async_context(_serving(proxy, tls)), loop).result(DEADLINE_S)
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result(DEADLINE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
