"""Who comes in by the rewarder port: counts its connections, and checks passwords."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from aiohttp import web

from pluriverse_server.access.addresses import address_key
from pluriverse_server.access.connections import ConnectionTable
from pluriverse_server.access.strangers import log_dropped, note_guess
from pluriverse_server.access.throttle import PasswordThrottle
from pluriverse_server.viewer.hub import MAX_VIEWERS

from .auth import authorized, matches
from .hub import MAX_CONNECTIONS

PORT: Final = "rewarder port"

# Browsers that load the viewer's files, health checks, and those who are about to give the password.
MAX_PENDING: Final = 128

# The hubs refuse more than they serve, with a reason; a viewer has its picture and its state.
MAX_LET_IN: Final = MAX_CONNECTIONS + 2 * MAX_VIEWERS


class Door:
    """The rewarder port's connections, and what is asked of those who want more than a page or the health."""

    def __init__(self, password: str) -> None:
        self.table: ConnectionTable[asyncio.Transport] = ConnectionTable(
            max_pending=MAX_PENDING, max_connections=MAX_LET_IN, max_per_address=MAX_LET_IN
        )
        self.throttle = PasswordThrottle()
        self._password = password

    async def is_authorized(self, request: web.Request) -> bool:
        """Return whether a request's ``Authorization`` has the password, later for who has guessed wrong.

        Pages, which can send no headers with a WebSocket, give it with ``?password=``.
        """
        header = request.headers.get("Authorization")
        if header is None:
            return await self.knows_password(request, request.query.get("password", ""))
        return await self._judge(request, authorized(header, self._password))

    async def knows_password(self, request: web.Request, given: str) -> bool:
        """Return whether the password is right (``""``: none was given), later for who has guessed wrong."""
        return bool(given) and await self._judge(request, matches(given, self._password))

    def admit(self, request: web.Request) -> bool:
        """Count a request's connection as one that may stay; return False if it has gone or was dropped."""
        return isinstance(request.transport, asyncio.Transport) and self.table.admit(request.transport)

    def opened(self, transport: asyncio.Transport) -> None:
        """Count a new connection; drop another one if there are too many without the password."""
        address = address_key(transport.get_extra_info("peername")[0])
        dropped = self.table.add(transport, address)
        if dropped is not None:
            dropped.abort()
            log_dropped(PORT, self.table, address, time.monotonic())

    async def _judge(self, request: web.Request, right: bool) -> bool:
        address = address_key(request.remote or "")
        now = asyncio.get_running_loop().time
        wait_s = self.throttle.delay(address, now())
        if wait_s is None:
            return False
        if wait_s:
            await asyncio.sleep(wait_s)
        note_guess(PORT, self.throttle, address, right=right, now=now())
        return right
