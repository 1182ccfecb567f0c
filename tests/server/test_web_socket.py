"""What of a client's frames the server's WebSockets refuse."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer
from pluriverse_protocol.control_frames import TOO_MANY
from pluriverse_protocol.limits import MAX_CONTROL_FRAMES_AT_ONCE
from pluriverse_server.web_socket import StrictWebSocket
from support.agent import credentials
from support.served import PASSWORD, serving
from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.uri import parse_uri

TEXT = Frame(Opcode.TEXT, b"one")
LONG = Frame(Opcode.TEXT, b"x" * 70_000)
PING = Frame(Opcode.PING, b"")
BYE = Frame(Opcode.TEXT, b"bye").serialize(mask=True)
UNMASKED = Close(1002, "a client's frame has no mask")


async def ended(
    port: int, data: bytes, *, headers: Sequence[tuple[str, str]] = (), path: str = "/", early: bool = False
) -> Close | None:
    """Return how the server closes a connection on which ``data`` is sent; None: it just hangs up."""
    client = ClientProtocol(parse_uri(f"ws://127.0.0.1:{port}{path}"))
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
    return client.close_rcvd


@pytest.fixture
async def port() -> AsyncGenerator[int]:
    """Of a server that takes texts until ``bye``."""

    async def listen(request: web.Request) -> web.WebSocketResponse:
        socket = StrictWebSocket()
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT and message.data == "bye":
                await socket.close(code=3000)
        return socket

    app = web.Application()
    app.router.add_get("/", listen)
    async with TestServer(app) as server:
        yield server.make_url("/").port or 0


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("before", [(), (TEXT,), (LONG, PING, TEXT)])
async def test_frame_without_a_mask_ends_the_connection_with_1002(
    port: int, before: Sequence[Frame], early: bool
) -> None:
    masked = b"".join(frame.serialize(mask=True) for frame in before)
    assert await ended(port, masked + TEXT.serialize(mask=False), early=early) == UNMASKED
    assert await ended(port, masked + BYE, early=early) == Close(3000, "")


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("frame", [PING, Frame(Opcode.PONG, b"nobody asked"), Frame(Opcode.TEXT, b"")])
async def test_flood_of_pings_ends_the_connection_with_1008(port: int, frame: Frame, early: bool) -> None:
    masked = frame.serialize(mask=True) * MAX_CONTROL_FRAMES_AT_ONCE
    # The close counts as well.
    assert await ended(port, masked[: -len(frame.serialize(mask=True))] + BYE, early=early) == Close(3000, "")
    assert await ended(port, masked + PING.serialize(mask=True), early=early) == Close(1008, TOO_MANY)


async def test_rewarder_takes_no_frame_without_a_mask(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        headers = [("Authorization", credentials(PASSWORD))]
        assert await ended(served.port, TEXT.serialize(mask=False), headers=headers) == UNMASKED


@pytest.mark.parametrize("path", ["/", "/viewer/state"])
async def test_flood_of_pings_is_taken_nowhere(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as served:
        headers = [("Authorization", credentials(PASSWORD))]
        flood = PING.serialize(mask=True) * 1000
        assert await ended(served.port, flood, headers=headers, path=path) == Close(1008, TOO_MANY)
