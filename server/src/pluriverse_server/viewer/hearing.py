"""What the remote plays, as it is played, over a WebSocket: to agents and to people."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from aiohttp import ClientConnectionResetError, WSCloseCode, web

from pluriverse_server.sound import SoundFile

from .sessions import End, close, first_end

# More often there is little to send; less often it comes later than it must.
INTERVAL_S: Final = 0.02


async def send_sound(websocket: web.WebSocketResponse, path: Path) -> None:
    """Send what comes to the sound file at ``path`` until the other end leaves, which has nothing to say."""
    code, reason = await first_end(_send(websocket, path), _await_end(websocket))
    await close(websocket, code, reason)


async def _send(websocket: web.WebSocketResponse, path: Path) -> End:
    try:
        file = SoundFile(path)
    except FileNotFoundError:
        return WSCloseCode.TRY_AGAIN_LATER, "this remote plays nothing"
    count = file.count
    try:
        while not websocket.closed:
            await asyncio.sleep(INTERVAL_S)
            sound, count = file.since(count)
            if len(sound):
                await websocket.send_bytes(sound.tobytes())
    except ClientConnectionResetError:
        pass
    finally:
        file.close()
    return WSCloseCode.OK, ""


async def _await_end(websocket: web.WebSocketResponse) -> End:
    async for _ in websocket:
        return WSCloseCode.POLICY_VIOLATION, "expected no messages"
    return WSCloseCode.OK, ""
