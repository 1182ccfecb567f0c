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
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from aiohttp import WSCloseCode, web

from pluriverse_server.access.tokens import Denied, Right, Token

from . import bridge, feed
from .feed import Snapshot
from .sessions import TooManyViewers, ViewerSessions, close
from .web_app import FULL, Auth, WebApp

Question = Callable[[Mapping[str, Any]], Awaitable[Any]]

# What is asked as the picture of one who controls closes.
LEFT: Final = "left"

NO_CONTROL: Final = "This password or token only allows viewing.\n"


class Refused(Exception):
    """A question has no answer; the page shows the message."""


class Viewer:
    """The viewer at ``/viewer/``. ``sessions`` counts the viewers, and is notified of changes through ``changed``.

    ``snapshot`` returns the state that the page shows, as JSON without NaN; both sockets speak RFB, and the second
    takes no input. ``questions`` are what can be asked, by word; each may raise Refused.
    """

    def __init__(
        self,
        auth: Auth,
        snapshot: Snapshot,
        vnc_socket: Path,
        watchers_socket: Path,
        questions: Mapping[str, Question],
    ) -> None:
        self.sessions = ViewerSessions()
        self._auth = auth
        self._snapshot = snapshot
        self._vnc_socket = vnc_socket
        self._watchers_socket = watchers_socket
        self._questions = questions

    def add_to(self, app: web.Application) -> None:
        """Serve it; its connections are closed when ``app`` shuts down."""
        viewer = WebApp(self._auth, lambda status, why: web.Response(status=status, text=f"{why}\n"))
        viewer.serve_page()
        viewer.serve("GET", "/access", self._access)
        viewer.guard("GET", "/vnc", Right.WATCH, self._vnc, websocket=True)
        viewer.guard("GET", "/state", Right.WATCH, self._state, websocket=True)
        viewer.guard("POST", "/ask/{word}", Right.WATCH, self._ask)
        viewer.app.on_shutdown.append(lambda _: self.sessions.close())
        app.router.add_get("/viewer", redirect)
        app.add_subapp("/viewer/", viewer.app)

    async def _access(self, request: web.Request) -> web.StreamResponse:
        granted = control = False
        with contextlib.suppress(Denied):
            who = await self._auth.require(request, Right.WATCH)
            granted, control = True, self._auth.may_control(who)
        return web.json_response({"granted": granted, "control": control}, headers={"Cache-Control": "no-store"})

    async def _ask(self, request: web.Request, who: Token) -> web.StreamResponse:
        if not self._auth.may_control(who):
            raise web.HTTPForbidden(text=NO_CONTROL)
        question = self._questions.get(request.match_info["word"])
        if question is None:
            raise web.HTTPNotFound
        try:
            return web.json_response(await question(cast("dict[str, Any]", json.loads(await request.read()))))
        except Refused as refused:
            raise web.HTTPConflict(text=str(refused)) from None
        except (KeyError, TypeError, ValueError) as error:
            raise web.HTTPBadRequest(text=f"malformed question: {error!r}") from None

    async def _vnc(self, request: web.Request, who: Token) -> web.StreamResponse:
        control = request.query.get("control") == "1" and self._auth.may_control(who)
        websocket = await self._open(request, who, bridge.new_websocket())
        try:
            with self.sessions.picture(websocket):
                if control:
                    self._auth.note("control taken in the viewer", who, request)
                await bridge.carry(websocket, self._vnc_socket if control else self._watchers_socket)
        except TooManyViewers as error:
            await close(websocket, WSCloseCode.TRY_AGAIN_LATER, str(error))
        finally:
            if control and LEFT in self._questions:
                await self._questions[LEFT]({})
        return websocket

    async def _state(self, request: web.Request, who: Token) -> web.StreamResponse:
        websocket = await self._open(request, who, feed.new_websocket())
        transport = request.transport
        if transport is None:
            return websocket
        try:
            with self.sessions.feed(websocket) as changed:
                await feed.send_state(websocket, transport, self._snapshot, changed)
        except TooManyViewers as error:
            await close(websocket, WSCloseCode.TRY_AGAIN_LATER, str(error))
        return websocket

    async def _open(self, request: web.Request, who: Token, websocket: web.WebSocketResponse) -> web.WebSocketResponse:
        if not self._auth.admit(request, who):
            raise web.HTTPServiceUnavailable(text=f"{FULL}\n")
        await websocket.prepare(request)
        return websocket


async def redirect(request: web.Request) -> web.StreamResponse:
    """Lead to the viewer, from ``/viewer`` or ``/``."""
    del request
    # Relative, for a proxy may put a prefix before it; without the query, which may have a password.
    raise web.HTTPPermanentRedirect("viewer/", headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
