"""The open WebSockets of the viewer: counted, limited, notified of changes, closed at the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Generator, MutableMapping
from typing import Any, Final

from aiohttp import WSCloseCode, web

# Each viewer costs the VNC server an encoder, on the cores that the program runs on. Enough for a class of students.
MAX_VIEWERS: Final = 32

# A browser answers a close within a round trip; one that has vanished must not delay the remote's end.
CLOSE_TIMEOUT_S: Final = 1.0

# A vanished browser is noticed within one and a half of these. Proxies usually cut a silent connection after a minute.
HEARTBEAT_S: Final = 30.0

# Reasons of a WebSocket's end have 123 bytes (RFC 6455, 5.5).
MAX_REASON_BYTES: Final = 123

End = tuple[int, str]
"""The code and the reason with which a WebSocket is closed."""


class TooManyViewers(Exception):
    """MAX_VIEWERS browsers are connected already."""


class ViewerSessions:
    def __init__(self) -> None:
        self._pictures: dict[web.WebSocketResponse, asyncio.Event] = {}
        self._feeds: dict[web.WebSocketResponse, asyncio.Event] = {}

    @property
    def viewers(self) -> int:
        return len(self._pictures)

    def changed(self) -> None:
        """Send the new state to every page at once, since the episode or its state has changed."""
        for event in self._feeds.values():
            event.set()

    def picture(self, websocket: web.WebSocketResponse) -> contextlib.AbstractContextManager[asyncio.Event]:
        """Count a connection to the screen while it lasts."""
        return _place(self._pictures, websocket)

    def feed(self, websocket: web.WebSocketResponse) -> contextlib.AbstractContextManager[asyncio.Event]:
        """Count a state feed while it lasts; the event is set at each change."""
        return _place(self._feeds, websocket)

    async def close(self) -> None:
        websockets = (*self._pictures, *self._feeds)
        await asyncio.gather(*(close(w, WSCloseCode.GOING_AWAY, "the remote is shutting down") for w in websockets))


@contextlib.contextmanager
def _place(
    places: MutableMapping[web.WebSocketResponse, asyncio.Event], websocket: web.WebSocketResponse
) -> Generator[asyncio.Event]:
    if len(places) >= MAX_VIEWERS:
        raise TooManyViewers(f"the remote is at its limit of {MAX_VIEWERS} viewers")
    places[websocket] = asyncio.Event()
    try:
        yield places[websocket]
    finally:
        del places[websocket]


async def close(websocket: web.WebSocketResponse, code: int, reason: str) -> None:
    message = reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore").encode()
    # Not drained: that would wait for a browser that has stopped reading.
    await websocket.close(code=code, message=message, drain=False)


async def first_end(*directions: Coroutine[Any, Any, End]) -> End:
    """Run all directions of a connection until one returns or raises, cancel the others, and return its result."""
    tasks = [asyncio.ensure_future(direction) for direction in directions]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
