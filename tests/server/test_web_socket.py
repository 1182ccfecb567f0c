"""Masks of a client's frames, on the server's WebSockets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer
from pluriverse_server.web_socket import MaskedWebSocket
from support.agent import credentials
from support.served import PASSWORD, serving
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

TEXT = Frame(Opcode.TEXT, b"one")
LONG = Frame(Opcode.TEXT, b"x" * 70_000)
PING = Frame(Opcode.PING, b"")


async def ended(port: int, data: bytes, *, headers: Sequence[tuple[str, str]] = (), early: bool = False) -> int | None:
    """Return the code with which the server ends a connection on which ``data`` is sent; None: it just hangs up."""
    client = ClientProtocol(parse_uri(f"ws://127.0.0.1:{port}/"))
    request = client.connect()
    for name, value in headers:
        request.headers[name] = value
    client.send_request(request)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"".join(client.data_to_send()) + (data if early else b""))
    while not client.events_received():
        client.receive_data(await reader.read(4096))
    if not early:
        writer.write(data)
    while client.close_rcvd is None and (received := await reader.read(4096)):
        client.receive_data(received)
    writer.close()
    return client.close_rcvd.code if client.close_rcvd is not None else None


async def echo(request: web.Request) -> web.WebSocketResponse:
    """Take texts until ``bye``."""
    socket = MaskedWebSocket()
    await socket.prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT and message.data == "bye":
            await socket.close(code=3000)
    return socket


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("before", [(), (TEXT,), (LONG, PING, TEXT)])
async def test_frame_without_a_mask_ends_the_connection_with_1002(before: Sequence[Frame], early: bool) -> None:
    app = web.Application()
    app.router.add_get("/", echo)
    async with TestServer(app) as server:
        port: int = server.make_url("/").port or 0
        masked = b"".join(frame.serialize(mask=True) for frame in before)
        assert await ended(port, masked + TEXT.serialize(mask=False), early=early) == 1002
        bye = Frame(Opcode.TEXT, b"bye").serialize(mask=True)
        assert await ended(port, masked + bye, early=early) == 3000


async def test_rewarder_takes_no_frame_without_a_mask(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        headers = [("Authorization", credentials(PASSWORD))]
        assert await ended(served.port, TEXT.serialize(mask=False), headers=headers) == 1002
