"""Who comes in by the rewarder port: counts its connections, and checks passwords and tokens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from aiohttp import web
from pluriverse_protocol import seats

from pluriverse_server.access import audit
from pluriverse_server.access.addresses import address_key
from pluriverse_server.access.connections import ConnectionTable
from pluriverse_server.access.guesses import log_dropped, note_guess
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.access.throttle import PasswordThrottle
from pluriverse_server.access.tokens import Denied, Right, Role, Token
from pluriverse_server.tasks import call_later
from pluriverse_server.viewer.sessions import MAX_VIEWERS

from .auth import secrets_of
from .sessions import MAX_CONNECTIONS

PORT: Final = "rewarder port"

UNAUTHORIZED: Final = (
    "the password is missing or wrong; the remote prints it when it starts, and agents give it as ?password=… of the "
    "address, or in PLURIVERSE_PASSWORD"
)
ENDED: Final = "the lease of this token has ended"

# Browsers that load the viewer's files, health checks, and those who are about to give the password.
MAX_PENDING: Final = 128

# Who is hung up on since its token was taken away has so long to take the last message.
EXPELLED_S: Final = 1.0

# The sessions refuse more than they serve, with a reason; a viewer has its picture and its state.
MAX_LET_IN: Final = MAX_CONNECTIONS + 2 * MAX_VIEWERS


def seat_token(request: web.Request) -> str | None:
    """Return the token by which an agent names itself; pages give it in the address."""
    return seats.parse_token(request.headers.get(seats.TOKEN) or request.query.get(seats.TOKEN))


class HttpAuth:
    """The rewarder port's connections, and what is asked of those who want more than a page or the health."""

    def __init__(self, secrets: Secrets, has_seat: Callable[[str | None], bool]) -> None:
        """``has_seat``: whether this is the token of the seat of the agent, who has been asked before."""
        self.table: ConnectionTable[asyncio.Transport] = ConnectionTable(
            max_pending=MAX_PENDING, max_connections=MAX_LET_IN, max_per_address=MAX_LET_IN
        )
        self.throttle = PasswordThrottle()
        self.secrets = secrets
        self._has_seat = has_seat
        self._let_in: dict[asyncio.Transport, Token] = {}
        secrets.on_change.append(self._expel)

    async def require(self, request: web.Request, right: Right) -> Token:
        """Return who sends a request, by its ``Authorization``; later for who has guessed wrong.

        Pages, which can send no headers with a WebSocket, give the password or token with ``?password=``.
        """
        header = request.headers.get("Authorization")
        if header is None:
            given = request.query.get("password")
            secrets = (given.encode(errors="surrogatepass"),) if given else ()
        else:
            secrets = secrets_of(header)
        who = await self._judge(request, secrets) if header is not None or secrets else None
        if who is None:
            raise Denied(UNAUTHORIZED, known=False)
        if not self.secrets.rights(who) & right:
            raise Denied(ENDED if who.role is Role.ENDED else f"not permitted: this is the token of {who}", known=True)
        return who

    def may_control(self, who: Token) -> bool:
        return Right.CONTROL in self.secrets.rights(who)

    def note(self, action: str, who: Token, request: web.Request, **what: Any) -> None:
        audit.note(action, who, request.remote or "", **what)

    def admit(self, request: web.Request, who: Token) -> bool:
        """Count a request's connection as one that may stay; return False if it has gone or was dropped."""
        transport = request.transport
        if not isinstance(transport, asyncio.Transport) or not self.table.admit(transport):
            return False
        self._let_in[transport] = who
        return True

    def opened(self, transport: asyncio.Transport) -> None:
        """Count a new connection; drop another one if there are too many without the password."""
        address = address_key(transport.get_extra_info("peername")[0])
        dropped = self.table.add(transport, address)
        if dropped is not None:
            dropped.abort()
            log_dropped(PORT, self.table, address, time.monotonic())

    def closed(self, transport: asyncio.Transport) -> None:
        self.table.remove(transport)
        self._let_in.pop(transport, None)

    def _expel(self) -> None:
        for transport, token in self._let_in.items():
            if not self.secrets.rights(token):
                # Sessions have already sent agents and observers the reason.
                call_later(EXPELLED_S, "expelled", transport.abort)

    async def _judge(self, request: web.Request, given: tuple[bytes, ...]) -> Token | None:
        token = self.secrets.identify(*given)
        if token is not None and (token.is_long or self._has_seat(seat_token(request))):
            return token
        address = address_key(request.remote or "")
        now = asyncio.get_running_loop().time
        wait_s = self.throttle.delay(address, now())
        if wait_s is None:
            return None
        if wait_s:
            await asyncio.sleep(wait_s)
        token = self.secrets.identify(*given)
        note_guess(PORT, self.throttle, address, right=token is not None, now=now())
        return token
