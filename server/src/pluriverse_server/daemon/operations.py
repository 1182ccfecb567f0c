"""What operators and fleets ask of a remote over HTTP: leases, a restart of the environment, its end.

=====================  ===============================================================================================
``POST /lease``        a lease, of ``{"ttl_s": 30}``; its token alone plays while it lasts
``POST /lease/ID``     renews it, with its token
``DELETE /lease/ID``   gives it back, with its token, or one that operates
``POST /restart``      ends the episode, and begins another with a new program
``POST /drain``        takes no new agents, and ends the remote once the episode is over, or after ``--drain-s``
=====================  ===============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from aiohttp import web
from pluriverse_protocol.strict_json import parse_object

from pluriverse_server.access.lease import Lease, parse_ttl
from pluriverse_server.access.tokens import RIGHTS, Right, Token
from pluriverse_server.viewer.web_app import WebApp, answer

from .http_auth import HttpAuth
from .leases import Leases, Unavailable

DEFAULT_TTL_S: Final = 30.0

# A request for a lease has forty.
MAX_BODY_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Operations:
    """What is done to a remote: its leases, and how to restart its environment or to end it."""

    leases: Leases
    env_id: Callable[[], str | None]
    restart: Callable[[str], None]
    drain: Callable[[], None]


def add_operations(app: WebApp, http_auth: HttpAuth, operations: Operations) -> None:
    leases = operations.leases

    async def claim(request: web.Request, who: Token) -> web.Response:
        # Roles that may play without a lease.
        if not RIGHTS[who.role] & (Right.PLAY | Right.OPERATE):
            return answer(403, error=f"not permitted: this is the token of {who}")
        try:
            ttl_s = _parse_claim(await _read_body(request))
        except ValueError as error:
            return answer(400, error=str(error))
        try:
            lease = leases.claim(who, ttl_s, where=request.remote or "")
        except Unavailable as error:
            status = 503 if leases.draining else 409
            return answer(status, error=str(error), free_in_s=error.free_in_s)
        return answer(200, lease=lease.id, token=lease.token.secret, ttl_s=lease.ttl_s, env_id=operations.env_id())

    def lease_of(request: web.Request) -> Lease | None:
        lease = leases.lease
        return lease if lease is not None and lease.id == request.match_info["id"] else None

    async def renew(request: web.Request, who: Token) -> web.Response:
        lease = lease_of(request)
        if lease is None or who != lease.token:
            return answer(403, error="renewing a lease needs its own token")
        leases.renew(lease)
        return answer(200, lease=lease.id, ttl_s=lease.ttl_s, env_id=operations.env_id())

    async def give_back(request: web.Request, who: Token) -> web.Response:
        lease = lease_of(request)
        if lease is None:
            return answer(404, error="unknown lease; it may have ended")
        if who != lease.token and Right.OPERATE not in http_auth.secrets.rights(who):
            return answer(403, error="releasing a lease needs its own token, or an operator's")
        leases.give_back(lease, who, request.remote or "")
        return answer(200, lease=lease.id)

    async def restart(request: web.Request, who: Token) -> web.Response:
        http_auth.note("restart", who, request)
        operations.restart(f"restarted by {who}")
        return answer(202, env_id=operations.env_id())

    async def drain(request: web.Request, who: Token) -> web.Response:
        http_auth.note("drain", who, request)
        operations.drain()
        return answer(202, phase="draining")

    app.guard("POST", "/lease", Right.WATCH, claim)
    app.guard("POST", "/lease/{id}", Right.PLAY, renew)
    app.guard("DELETE", "/lease/{id}", Right.PLAY | Right.OPERATE, give_back)
    app.guard("POST", "/restart", Right.OPERATE, restart)
    app.guard("POST", "/drain", Right.OPERATE, drain)


async def _read_body(request: web.Request) -> bytes:
    body = await request.content.read(MAX_BODY_BYTES + 1)
    while len(body) <= MAX_BODY_BYTES and not request.content.at_eof():
        body += await request.content.read(MAX_BODY_BYTES + 1)
    if len(body) > MAX_BODY_BYTES:
        raise ValueError(f"the body is too long; expected at most {MAX_BODY_BYTES} bytes")
    return body


def _parse_claim(body: bytes) -> float:
    document = parse_object(body) if body else {}
    unknown = document.keys() - {"ttl_s"}
    if unknown:
        raise ValueError(f"{min(unknown)!r:.40} is not known; expected ttl_s")
    return parse_ttl(document.get("ttl_s", DEFAULT_TTL_S))
