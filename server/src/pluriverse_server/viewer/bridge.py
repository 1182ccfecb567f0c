"""Carries RFB between a browser's WebSocket and the VNC server.

With backpressure both ways: neither side is read faster than the other takes it, which bounds what waits here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from pathlib import Path
from typing import Final

from aiohttp import ClientConnectionResetError, WSCloseCode, WSMsgType, web

from pluriverse_server.web_socket import StrictWebSocket

from .sessions import CLOSE_TIMEOUT_S, HEARTBEAT_S, End, close, first_end

log = logging.getLogger(__name__)

SUBPROTOCOL: Final = "binary"

# One read of the VNC server: an encoded 1024x768 picture takes a few. Also the most that may be on its way to a
# browser before the VNC server has to wait: more would only make pictures older.
READ_BYTES: Final = 64 * 1024

# noVNC sends at most 10 KiB at a time.
MAX_MESSAGE_BYTES: Final = 256 * 1024

# The VNC server on this machine answers in a millisecond, or is being restarted.
CONNECT_TIMEOUT_S: Final = 2.0


def new_websocket() -> web.WebSocketResponse:
    return StrictWebSocket(
        protocols=(SUBPROTOCOL,),
        timeout=CLOSE_TIMEOUT_S,
        heartbeat=HEARTBEAT_S,
        compress=False,  # the pictures are compressed already
        max_msg_size=MAX_MESSAGE_BYTES,
        writer_limit=READ_BYTES,
    )


async def carry(websocket: web.WebSocketResponse, vnc_socket: Path) -> None:
    """Carry bytes between a browser and the VNC server until either side ends, then close the other."""
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            reader, writer = await asyncio.open_unix_connection(vnc_socket, limit=READ_BYTES)
    except OSError as error:  # TimeoutError is one
        log.warning("viewer: the VNC server can't be reached: %s", error or "it did not answer")
        await close(websocket, WSCloseCode.TRY_AGAIN_LATER, "the VNC server does not answer")
        return
    try:
        code, reason = await first_end(
            _to_browser(reader, websocket),
            _to_server(websocket, writer),
        )
        await close(websocket, code, reason)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _to_browser(reader: asyncio.StreamReader, websocket: web.WebSocketResponse) -> End:
    try:
        while data := await reader.read(READ_BYTES):
            await websocket.send_bytes(data)
    except ClientConnectionResetError:
        return WSCloseCode.GOING_AWAY, "the browser went away"
    except OSError as error:
        return WSCloseCode.GOING_AWAY, f"the VNC server was lost: {error}"
    return WSCloseCode.GOING_AWAY, "the VNC server closed the connection"


async def _to_server(websocket: web.WebSocketResponse, writer: asyncio.StreamWriter) -> End:
    async for message in websocket:
        if message.type is WSMsgType.TEXT:
            return WSCloseCode.UNSUPPORTED_DATA, "RFB is sent in binary frames"
        if message.type is not WSMsgType.BINARY:
            break
        try:
            writer.write(message.data)
            await writer.drain()
        except OSError as error:
            return WSCloseCode.GOING_AWAY, f"the VNC server was lost: {error}"
    return WSCloseCode.OK, ""
