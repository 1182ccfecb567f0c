"""Who is looking: the open WebSockets of the viewer, counted, limited, told of changes and closed at the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator
from typing import Final

from aiohttp import WSCloseCode, web

# Each picture costs the VNC server an encoder of its own, on the cores that the program runs on. A class looking at one
# remote fits; a script that opens connections without end doesn't.
MAX_VIEWERS: Final = 32

# A browser answers a close within a round trip; one that has vanished must not hold up the remote's end.
CLOSE_TIMEOUT_S: Final = 1.0

# A browser that vanished without a word is noticed within one and a half of these. Half of the usual minute after
# which proxies cut a silent connection.
HEARTBEAT_S: Final = 30.0

# Reasons of a WebSocket's end have 123 bytes (RFC 6455, 5.5).
MAX_REASON_BYTES: Final = 123


class TooManyViewers(Exception):
    """As many browsers as allowed are connected already."""


class ViewerHub:
    """The viewer's open connections. ``viewers`` is their number, for metrics and for the page itself."""

    def __init__(self) -> None:
        self._pictures: set[web.WebSocketResponse] = set()
        self._feeds: dict[web.WebSocketResponse, asyncio.Event] = {}

    @property
    def viewers(self) -> int:
        """How many browsers are shown the screen at this moment."""
        return len(self._pictures)

    def changed(self) -> None:
        """The episode or its state changed: every page is told at once. Cheap; may be called without any viewer."""
        for event in self._feeds.values():
            event.set()

    @contextlib.contextmanager
    def picture(self, websocket: web.WebSocketResponse) -> Generator[None]:
        """A place for a connection to the screen while it lasts.

        Raises:
            TooManyViewers: MAX_VIEWERS have one.
        """
        if len(self._pictures) >= MAX_VIEWERS:
            raise TooManyViewers(f"{MAX_VIEWERS} viewers are connected already, as many as this remote allows")
        self._pictures.add(websocket)
        try:
            yield
        finally:
            self._pictures.discard(websocket)

    @contextlib.contextmanager
    def feed(self, websocket: web.WebSocketResponse) -> Generator[asyncio.Event]:
        """A place for a state feed while it lasts; the event is set when something changed.

        Raises:
            TooManyViewers: MAX_VIEWERS have one.
        """
        if len(self._feeds) >= MAX_VIEWERS:
            raise TooManyViewers(f"{MAX_VIEWERS} viewers are connected already, as many as this remote allows")
        self._feeds[websocket] = asyncio.Event()
        try:
            yield self._feeds[websocket]
        finally:
            del self._feeds[websocket]

    async def close(self) -> None:
        """Close every connection, with a reason that the page shows."""
        websockets = (*self._pictures, *self._feeds)
        await asyncio.gather(*(close(w, WSCloseCode.GOING_AWAY, "the remote is shutting down") for w in websockets))


async def close(websocket: web.WebSocketResponse, code: int, reason: str) -> None:
    """Close with a reason that a person can read, cut to what the protocol carries."""
    message = reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore").encode()
    # Not drained: a browser that stopped reading would be waited for.
    await websocket.close(code=code, message=message, drain=False)
