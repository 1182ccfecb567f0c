"""The viewer's routes: a page, its files, and its two WebSockets.

==================  ===================================================================================
``/viewer/``        the page
``/viewer/static``  its scripts and styles, noVNC among them
``/viewer/ask/``    POST, JSON in and out: what a remote is asked beside playing, of who may control it
``/viewer/access``  ``{"granted": bool, "control": bool}``: what ``?password=``, or a token there, allows
``/viewer/vnc``     WebSocket: RFB, binary, both ways; input only with ``?control=1``, of who may
``/viewer/state``   WebSocket: the state of the remote as JSON
==================  ===================================================================================
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, cast

from aiohttp import WSCloseCode, web

from pluriverse_server.access.tokens import Denied, Right, Token

from . import bridge, feed
from .feed import Snapshot
from .sessions import TooManyViewers, ViewerSessions, close

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_GuardedHandler = Callable[[web.Request, Token], Awaitable[web.StreamResponse]]
Question = Callable[[Mapping[str, Any]], Awaitable[Any]]

STATIC: Final = Path(__file__).parent / "static"
NOVNC: Final = STATIC / "vendor" / "novnc" / "core" / "rfb.js"

NO_ASSETS: Final = (
    "The viewer has no noVNC: it is fetched when the package is built, and is missing in this installation.\n"
    "In a checkout of the sources, fetch it and reload this page:\n\n    make assets\n"
)
NO_PASSWORD: Final = "The password is missing or wrong: give this remote's with ?password=…\n"  # noqa: S105
OTHER_ORIGIN: Final = "Only the remote's own page may connect here.\n"
NO_CONTROL: Final = "This password or token may only look.\n"
FULL: Final = "This remote has as many connections as it serves; try again when one has gone.\n"
NO_WEBSOCKET: Final = "This address speaks WebSocket; the page for people is /viewer/.\n"

# Some browsers don't count WebSockets as 'self'; noVNC draws JPEG rectangles and pointers from data: images.
CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'self'",
        "connect-src 'self' ws: wss:",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        # Pages of this machine may show several remotes side by side; they need the password, too.
        "frame-ancestors 'self' http://127.0.0.1:* http://localhost:*",
    )
)


# What is asked is some hundred bytes, labels and regions' pictures up to megabytes.
MAX_REQUEST_BYTES: Final = 16 * 1024 * 1024


class Refused(Exception):
    """A question has no answer; the page shows the message."""


class Doorkeeper(Protocol):
    """Checks passwords and counts connections, as ``daemon.http_auth.HttpAuth`` does."""

    async def require(self, request: web.Request, right: Right) -> Token:
        """Return who sends a request, later for who has guessed wrong."""
        ...

    def may_control(self, who: Token) -> bool: ...

    def note(self, action: str, who: Token, request: web.Request) -> None: ...

    def admit(self, request: web.Request, who: Token) -> bool: ...


def page_app(routes: Iterable[web.AbstractRouteDef]) -> web.Application:
    """Return the application of the page, which asks at ``routes`` for what it shows."""
    app = web.Application(client_max_size=MAX_REQUEST_BYTES)
    app.add_routes([web.get("/", _page), web.static("/static", STATIC), *routes])
    app.on_response_prepare.append(_add_headers)
    return app


def add_viewer(
    app: web.Application,
    *,
    http_auth: Doorkeeper,
    snapshot: Snapshot,
    vnc_socket: Path,
    watchers_socket: Path,
    questions: Mapping[str, Question],
) -> ViewerSessions:
    """Serve the viewer at ``/viewer/``.

    ``snapshot`` returns the state that the page shows, as JSON without NaN; both sockets speak RFB, and
    the second takes no input. ``questions`` are what can be asked, by word; each may raise Refused. The sessions counts
    the viewers, is notified of changes through ``changed``, and closes its connections when ``app`` shuts down.
    """
    sessions = ViewerSessions()
    viewer = page_app(
        [
            web.get("/access", _access(http_auth)),
            web.get("/vnc", _websocket(http_auth, _vnc(sessions, http_auth, vnc_socket, watchers_socket))),
            web.get("/state", _websocket(http_auth, _state(sessions, snapshot))),
            web.post("/ask/{word}", _guarded(http_auth, _ask(http_auth, questions))),
        ]
    )
    viewer.on_shutdown.append(lambda _: sessions.close())
    app.router.add_get("/viewer", _redirect)
    app.add_subapp("/viewer/", viewer)
    return sessions


async def _redirect(request: web.Request) -> web.StreamResponse:
    del request
    # Relative, for a proxy may put a prefix before it; without the query, which may have a password.
    raise web.HTTPPermanentRedirect("viewer/", headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


async def _page(request: web.Request) -> web.StreamResponse:
    del request
    if not NOVNC.is_file():
        raise web.HTTPServiceUnavailable(text=NO_ASSETS)
    return web.FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-store"})


def _access(http_auth: Doorkeeper) -> _Handler:
    async def access(request: web.Request) -> web.StreamResponse:
        granted = control = False
        with contextlib.suppress(Denied):
            who = await http_auth.require(request, Right.WATCH)
            granted, control = True, http_auth.may_control(who)
        return web.json_response({"granted": granted, "control": control}, headers={"Cache-Control": "no-store"})

    return access


def _guarded(http_auth: Doorkeeper, handler: _GuardedHandler) -> _Handler:
    async def guarded(request: web.Request) -> web.StreamResponse:
        if not is_same_origin(request):
            raise web.HTTPForbidden(text=OTHER_ORIGIN)
        try:
            who = await http_auth.require(request, Right.WATCH)
        except Denied as denied:
            if denied.known:
                raise web.HTTPForbidden(text=f"{denied}\n") from None
            raise web.HTTPUnauthorized(text=NO_PASSWORD) from None
        return await handler(request, who)

    return guarded


def _websocket(http_auth: Doorkeeper, handler: _GuardedHandler) -> _Handler:
    async def websocket(request: web.Request, who: Token) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() != "websocket":
            raise web.HTTPUpgradeRequired(text=NO_WEBSOCKET)
        if not http_auth.admit(request, who):
            raise web.HTTPServiceUnavailable(text=FULL)
        return await handler(request, who)

    return _guarded(http_auth, websocket)


def _ask(http_auth: Doorkeeper, questions: Mapping[str, Question]) -> _GuardedHandler:
    async def ask(request: web.Request, who: Token) -> web.StreamResponse:
        if not http_auth.may_control(who):
            raise web.HTTPForbidden(text=NO_CONTROL)
        question = questions.get(request.match_info["word"])
        if question is None:
            raise web.HTTPNotFound
        try:
            return web.json_response(await question(cast("dict[str, Any]", json.loads(await request.read()))))
        except Refused as refused:
            raise web.HTTPConflict(text=str(refused)) from None
        except (KeyError, TypeError, ValueError) as error:
            raise web.HTTPBadRequest(text=f"asked in another way: {error!r}") from None

    return ask


def is_same_origin(request: web.Request) -> bool:
    """Whether a request comes from a page of this port, or from no page at all: browsers always say which."""
    origin = request.headers.get("Origin")
    return origin is None or origin.partition("://")[2] == request.host


def _vnc(sessions: ViewerSessions, http_auth: Doorkeeper, vnc_socket: Path, watchers_socket: Path) -> _GuardedHandler:
    async def vnc(request: web.Request, who: Token) -> web.StreamResponse:
        control = request.query.get("control") == "1" and http_auth.may_control(who)
        websocket = bridge.new_websocket()
        await websocket.prepare(request)
        try:
            with sessions.picture(websocket):
                if control:
                    http_auth.note("control taken in the viewer", who, request)
                await bridge.carry(websocket, vnc_socket if control else watchers_socket)
        except TooManyViewers as error:
            await close(websocket, WSCloseCode.TRY_AGAIN_LATER, str(error))
        return websocket

    return vnc


def _state(sessions: ViewerSessions, snapshot: Snapshot) -> _GuardedHandler:
    async def state(request: web.Request, _: Token) -> web.StreamResponse:
        websocket = feed.new_websocket()
        await websocket.prepare(request)
        transport = request.transport
        if transport is None:
            return websocket
        try:
            with sessions.feed(websocket) as changed:
                await feed.send_state(websocket, transport, snapshot, changed)
        except TooManyViewers as error:
            await close(websocket, WSCloseCode.TRY_AGAIN_LATER, str(error))
        return websocket

    return state


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    del request
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    # Revalidated each time, so that scripts of two releases never mix.
    response.headers.setdefault("Cache-Control", "no-cache")
