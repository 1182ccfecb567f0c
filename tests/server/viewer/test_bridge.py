import asyncio
import struct
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType
from support.desktop import Desktop
from support.viewer_remote import EYE, Remote

pytestmark = [pytest.mark.display, pytest.mark.asyncio(loop_scope="module")]

WebSocket = aiohttp.ClientWebSocketResponse[Any]

UPDATE_REQUEST = struct.pack("!BBHHHH", 3, 0, 0, 0, 1, 1)
B_DOWN_UP = b"".join(struct.pack("!BB2xI", 4, down, ord("b")) for down in (1, 0))
A_DOWN_UP = b"".join(struct.pack("!BB2xI", 4, down, ord("a")) for down in (1, 0))
CLICK = struct.pack("!BBHH", 5, 1, 20, 30) + struct.pack("!BBHH", 5, 0, 20, 30)

# More than all the buffers between two sockets of this machine hold.
MORE_THAN_BUFFERS = 96 * 2**20


async def receive(websocket: WebSocket, size: int) -> bytes:
    """The next bytes, at least ``size`` of them."""
    data = b""
    while len(data) < size:
        message = await websocket.receive(timeout=60)
        assert message.type is WSMsgType.BINARY, (message, websocket.close_code)
        data += message.data
    return data


async def receive_close(websocket: WebSocket) -> tuple[int, str]:
    """The code and the reason of the end, past whatever comes before it."""
    while (message := await websocket.receive(timeout=60)).type is WSMsgType.BINARY:
        pass
    assert message.type is WSMsgType.CLOSE, message
    return message.data, message.extra or ""


async def shake_hands(websocket: WebSocket) -> None:
    """RFB 3.8 without a password, up to the server's description of the screen."""
    assert await receive(websocket, 12) == b"RFB 003.008\n"
    await websocket.send_bytes(b"RFB 003.008\n")
    assert await receive(websocket, 2) == b"\x01\x01"
    await websocket.send_bytes(b"\x01")
    assert await receive(websocket, 4) == bytes(4)
    await websocket.send_bytes(b"\x01")
    assert struct.unpack("!HH", (await receive(websocket, 24))[:4]) == (400, 300)


async def test_input_of_one_in_control_reaches_the_screen(
    remote: Remote, desktop: Desktop, session: aiohttp.ClientSession
) -> None:
    async with session.ws_connect(remote.url("vnc?password=sesame&control=1"), protocols=["binary"]) as websocket:
        assert websocket.protocol == "binary"
        await shake_hands(websocket)
        await websocket.send_bytes(A_DOWN_UP + CLICK)
        await desktop.wait_for_inputs([("key", ord("a")), ("button", 1)])


@pytest.mark.parametrize(
    "query",
    ["sesame", "sesame&control=true", f"{EYE}&control=1"],
)
async def test_input_of_one_who_watches_never_reaches_the_screen(
    remote: Remote, desktop: Desktop, session: aiohttp.ClientSession, query: str
) -> None:
    async with (
        session.ws_connect(remote.url(f"vnc?password={query}")) as watching,
        session.ws_connect(remote.url("vnc?password=sesame&control=1")) as steering,
    ):
        await shake_hands(watching)
        await watching.send_bytes(A_DOWN_UP + CLICK + UPDATE_REQUEST)
        # The picture that was asked for after them proves that the keys have been dealt with.
        assert (await receive(watching, 4))[0] == 0
        await shake_hands(steering)
        await steering.send_bytes(B_DOWN_UP)
        await desktop.wait_for_inputs([("key", ord("b"))])


async def test_end_of_the_vnc_server_closes_the_browsers_side(
    remote: Remote, desktop: Desktop, session: aiohttp.ClientSession
) -> None:
    async with session.ws_connect(remote.url("vnc?password=sesame")) as websocket:
        await shake_hands(websocket)
        await desktop.stop_vnc()
        code, reason = await receive_close(websocket)
    assert code == aiohttp.WSCloseCode.GOING_AWAY
    assert "VNC server" in reason


async def test_end_of_the_browser_closes_the_vnc_servers_side(remote: Remote, session: aiohttp.ClientSession) -> None:
    ended: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended.set_result(await reader.read())
        writer.close()

    async with await asyncio.start_unix_server(serve, remote.vnc_socket):
        async with session.ws_connect(remote.url("vnc?password=sesame&control=1")) as websocket:
            await websocket.send_bytes(b"last words")
        assert await asyncio.wait_for(ended, 60) == b"last words"


async def test_browser_that_does_not_read_stops_the_vnc_server_and_loses_nothing(
    remote: Remote, session: aiohttp.ClientSession
) -> None:
    block = bytes(range(256)) * 256
    stalled, sent = asyncio.Event(), 0

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        for _block in range(MORE_THAN_BUFFERS // len(block)):
            writer.write(block)
            draining = asyncio.ensure_future(writer.drain())
            if not (await asyncio.wait([draining], timeout=0.5))[0]:
                stalled.set()
            await draining
            sent += len(block)
        writer.close()

    async with (
        await asyncio.start_unix_server(serve, remote.vnc_socket),
        session.ws_connect(remote.url("vnc?password=sesame&control=1"), max_msg_size=0) as websocket,
    ):
        await asyncio.wait_for(stalled.wait(), 60)
        assert sent < MORE_THAN_BUFFERS
        received = 0
        while (message := await websocket.receive(timeout=60)).type is WSMsgType.BINARY:
            start = received % len(block)
            assert message.data == (block + block)[start : start + len(message.data)]
            received += len(message.data)
    assert received == MORE_THAN_BUFFERS
