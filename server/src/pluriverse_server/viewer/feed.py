"""The state beside the picture: JSON snapshots over a WebSocket.

The page may send ``{"ping": t}`` at any time and gets ``{"pong": t, "now": UNIX seconds}`` at once, to measure the
remote's clock and the round trip.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from aiohttp import ClientConnectionResetError, WSCloseCode, WSMsgType, web

from pluriverse_server.web_socket import StrictWebSocket

from .sessions import CLOSE_TIMEOUT_S, HEARTBEAT_S, End, close, first_end

Snapshot = Callable[[], Mapping[str, Any]]

# As fast as a person can read; a change of the episode is sent at once.
INTERVAL_S: Final = 0.2

# A ping is under 50 bytes.
MAX_MESSAGE_BYTES: Final = 256


def new_websocket() -> web.WebSocketResponse:
    return StrictWebSocket(
        timeout=CLOSE_TIMEOUT_S,
        heartbeat=HEARTBEAT_S,
        compress=False,  # a snapshot is a packet or two
        max_msg_size=MAX_MESSAGE_BYTES,
    )


async def send_state(
    websocket: web.WebSocketResponse, transport: asyncio.Transport, snapshot: Snapshot, changed: asyncio.Event
) -> None:
    """Send a snapshot now, every INTERVAL_S and whenever ``changed`` is set, until the browser leaves.

    ``transport`` is the WebSocket's: no snapshot is sent while the last one is still waiting.
    """
    code, reason = await first_end(_send(websocket, transport, snapshot, changed), _answer_pings(websocket))
    await close(websocket, code, reason)


async def _send(
    websocket: web.WebSocketResponse, transport: asyncio.Transport, snapshot: Snapshot, changed: asyncio.Event
) -> End:
    while not websocket.closed:
        changed.clear()
        if transport.get_write_buffer_size() == 0:
            try:
                await websocket.send_str(json.dumps(snapshot(), separators=(",", ":"), allow_nan=False))
            except ClientConnectionResetError:
                break
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(INTERVAL_S):
                await changed.wait()
    return WSCloseCode.OK, ""


async def _answer_pings(websocket: web.WebSocketResponse) -> End:
    async for message in websocket:
        sent_at = _ping(message.data) if message.type is WSMsgType.TEXT else None
        if sent_at is None:
            return WSCloseCode.POLICY_VIOLATION, 'expected {"ping": number}'
        try:
            await websocket.send_str(json.dumps({"pong": sent_at, "now": time.time()}))
        except ClientConnectionResetError:
            break
    return WSCloseCode.OK, ""


def _ping(text: str) -> float | None:
    try:
        document = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    sent_at = cast("dict[str, Any]", document).get("ping") if isinstance(document, dict) else None
    return sent_at if isinstance(sent_at, int | float) and not isinstance(sent_at, bool) else None


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
