"""The rewarder port: WebSocket on any path, and beside it plain HTTP for health, metrics and the viewer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiohttp import WSCloseCode, web
from pluriverse_protocol import Headers, encode, seats, step_channel
from pluriverse_protocol.messages import Close
from pluriverse_protocol.rfb import web_stream
from pluriverse_protocol.sound import PATH

from pluriverse_server.access.addresses import address_key
from pluriverse_server.access.tokens import RIGHTS, Denied, Right, Token
from pluriverse_server.process import StartError, listeners, port_fault, start_error
from pluriverse_server.viewer.bridge import SUBPROTOCOL
from pluriverse_server.viewer.feed import new_websocket
from pluriverse_server.viewer.hearing import send_sound
from pluriverse_server.viewer.routes import Question, Viewer, redirect
from pluriverse_server.viewer.sessions import TooManyViewers, ViewerSessions, close
from pluriverse_server.viewer.web_app import (
    FULL,
    NOT_WEBSOCKET,
    OTHER_ORIGIN,
    WebApp,
    answer,
    asks_for_websocket,
    is_same_origin,
)
from pluriverse_server.web_socket import StrictWebSocket

from .connection import CLOSE_TIMEOUT_S, MAX_CLOSE_REASON_BYTES, Connection
from .http_auth import HttpAuth, seat_token
from .operations import Operations, add_operations
from .requests import RequestError
from .seat import Seat
from .sessions import FAREWELL_S, Sessions
from .site import Site, taken_away

log = logging.getLogger(__name__)

# Beyond this aiohttp closes with code 1009; between the protocol's limit and this, an error reply says what was wrong
# and the connection stays open.
MAX_FRAME_BYTES: Final = 1024 * 1024

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_SLOT: Final = re.compile(r"[0-9]{1,1000}")


@dataclass(frozen=True, slots=True)
class Views:
    """What is behind the HTTP side: the state as JSON, the metrics' text, whether VNC answers, the viewer's socket.

    ``take_screen`` serves the screen, on the connection of a WebSocket, to someone at an address. ``sound`` is where
    there is what is played. ``questions`` are what the viewer may ask.
    """

    status: Callable[[], Mapping[str, Any]]
    metrics: Callable[[], bytes]
    screen_answers: Callable[[], bool]
    vnc_socket: Path
    watchers_socket: Path
    take_screen: Callable[[socket.socket, str, Token], Awaitable[None]]
    sound: Path
    questions: Mapping[str, Question] = field(default_factory=dict[str, Question])


def make_app(
    sessions: Sessions, http_auth: HttpAuth, views: Views, operations: Operations
) -> tuple[web.Application, ViewerSessions]:
    """Return the application on the rewarder port, and the viewers that it serves."""

    async def health(_: web.Request) -> web.Response:
        return web.json_response({"status": "alive"})

    async def ready(_: web.Request) -> web.Response:
        status = views.status()
        screen = views.screen_answers()
        leases = operations.leases
        if leases.draining:
            phase = "draining"
        elif status["env_state"] != "running":
            phase = "resetting"
        else:
            phase = "playing" if sessions.occupied else "idle"
        is_ready = screen and phase in ("playing", "idle")
        state = {key: status[key] for key in ("env_id", "env_state", "episode_id")}
        document = {"ready": is_ready, "phase": phase, "leased": leases.lease is not None, "screen": screen, **state}
        return web.json_response(document, status=200 if is_ready else 503)

    async def metrics(request: web.Request) -> web.Response:
        if http_auth.secrets.has_list:
            try:
                await http_auth.require(request, Right.OPERATE)
            except Denied as denied:
                return answer(403 if denied.known else 401, error=str(denied))
        return web.Response(body=views.metrics(), headers={"Content-Type": METRICS_TYPE})

    async def rewarder(request: web.Request) -> web.StreamResponse:
        if not asks_for_websocket(request):
            if (
                request.path == "/"
                and "Upgrade" not in request.headers
                and "text/html" in request.headers.get("Accept", "")
            ):
                return await redirect(request)
            return answer(426 if request.path == "/" else 404, error=NOT_WEBSOCKET)
        if not is_same_origin(request):
            return answer(403, error=OTHER_ORIGIN)
        return await _serve_websocket(sessions, http_auth, request)

    async def step(request: web.Request, who: Token) -> web.StreamResponse:
        return await _open_step_channel(sessions, request, who)

    async def screen(request: web.Request, who: Token) -> web.StreamResponse:
        return await _open_screen(http_auth, views, request, who)

    async def sound(request: web.Request, who: Token) -> web.StreamResponse:
        if not http_auth.admit(request, who):
            return answer(503, error=FULL)
        websocket = new_websocket()
        await websocket.prepare(request)
        try:
            with viewer.sessions.feed(websocket):
                await send_sound(websocket, views.sound)
        except TooManyViewers as error:
            await close(websocket, WSCloseCode.TRY_AGAIN_LATER, str(error))
        return websocket

    app = WebApp(http_auth)
    app.serve("GET", "/healthz", health)
    app.serve("GET", "/readyz", ready)
    app.serve("GET", "/metrics", metrics)
    viewer = Viewer(http_auth, views.status, views.vnc_socket, views.watchers_socket, views.questions)
    viewer.add_to(app.app)
    add_operations(app, http_auth, operations)
    app.guard("GET", step_channel.PATH, Right.PLAY, step, websocket=True)
    app.guard("GET", web_stream.PATH, Right.WATCH, screen, websocket=True)
    app.guard("GET", PATH, Right.WATCH, sound, websocket=True)
    app.serve("GET", "/{path:.*}", rewarder)
    return app.app, viewer.sessions


async def listen(
    app: web.Application, http_auth: HttpAuth, host: str, port: int, ssl_context: ssl.SSLContext | None = None
) -> web.AppRunner:
    """Serve ``app``, with TLS if there is a context for it; the caller cleans the runner up."""
    try:
        ports = listeners(host, port)
    except OSError as error:
        raise StartError(port_fault("rewarder", host, port, "--rewarder-port", error)) from error
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=FAREWELL_S)
    await runner.setup()
    try:
        for listener in ports:
            await Site(runner, listener, http_auth, ssl_context).start()
    except OSError as error:
        await runner.cleanup()
        raise start_error("the rewarder", error) from error
    return runner


async def _serve_websocket(sessions: Sessions, http_auth: HttpAuth, request: web.Request) -> web.WebSocketResponse:
    socket = StrictWebSocket(
        timeout=CLOSE_TIMEOUT_S, autoping=False, max_msg_size=MAX_FRAME_BYTES, compress=False, protocols=()
    )
    observer = request.headers.get("openai-observer", "").lower() == "true"
    seat = None
    try:
        who = await http_auth.require(request, Right.WATCH)
        observer = observer or Right.PLAY not in RIGHTS[who.role]
        seat = None if observer else _take_seat(sessions, request, socket, who)
    except Denied as denied:
        return await _turn_away(request, socket, str(denied))
    if sessions.full or not http_auth.admit(request, who):
        return await _turn_away(request, socket, FULL)
    await socket.prepare(request)
    transport = request.transport
    if not isinstance(transport, asyncio.Transport):
        return socket  # gone already
    peer = request.remote or "somewhere"
    wanted = request.headers.get(seats.TAKE_OVER, "").lower() == "true"
    takes_over = wanted and seat is not None and Right.OPERATE in http_auth.secrets.rights(who)
    await Connection(
        sessions, socket, transport, observer=observer, peer=peer, who=who, seat=seat, takes_over=takes_over
    ).run()
    return socket


async def _turn_away(request: web.Request, socket: web.WebSocketResponse, why: str) -> web.WebSocketResponse:
    # Old agents ignore the status code: a refusal is a message on the open connection, which is then closed.
    await socket.prepare(request)
    await socket.send_str(encode(Close(why), Headers(message_id=0, sent_at=time.time())))
    await socket.close(code=WSCloseCode.OK, message=why.encode()[:MAX_CLOSE_REASON_BYTES])
    return socket


async def _open_step_channel(sessions: Sessions, request: web.Request, who: Token) -> web.StreamResponse:
    """Give the agent's connection to the process that steps, which alone speaks on it from then on."""
    token, peer = seat_token(request), request.remote or "somewhere"
    if not sessions.is_agent(token, peer, who):
        return answer(403, error="only the remote's agent takes steps; connect, and send a reset first")
    slot = request.query.get(step_channel.SLOT, "0")
    if not _SLOT.fullmatch(slot):
        return answer(400, error=f"the slot is {slot!r:.80}; expected a number")
    try:
        view = step_channel.parse_view(request.query)
    except ValueError as error:
        return answer(400, error=str(error))
    try:
        sessions.requests.require_step_channel(int(slot), view)
    except RequestError as error:
        return answer(409, error=str(error))
    socket = web.WebSocketResponse(autoping=False, compress=False)
    await socket.prepare(request)
    transport = request.transport
    if isinstance(transport, asyncio.Transport):
        # Who has lost its seat meanwhile is hung up on.
        async with taken_away(transport) as connection:
            with contextlib.suppress(ConnectionError), connection:
                if sessions.is_agent(token, peer, who):
                    sessions.requests.open_step_channel(connection, int(slot), view)
    return socket


async def _open_screen(http_auth: HttpAuth, views: Views, request: web.Request, who: Token) -> web.StreamResponse:
    """Give the connection to the VNC proxy, which serves the screen on it from then on, with input for who may play."""
    if not http_auth.admit(request, who):
        return answer(503, error=FULL)
    response = web.WebSocketResponse(autoping=False, compress=False, protocols=(SUBPROTOCOL,))
    await response.prepare(request)
    transport = request.transport
    if isinstance(transport, asyncio.Transport):
        address = address_key(request.remote or "")
        try:
            async with taken_away(transport) as connection:
                await views.take_screen(connection, address, who)
        except OSError as error:
            log.warning("a viewer could not be shown the screen: %s", error)
    return response


def _take_seat(sessions: Sessions, request: web.Request, socket: web.WebSocketResponse, who: Token) -> Seat | None:
    """Return the seat of an agent that sends a token, and set the answer's header: resumed or new."""
    token = seat_token(request)
    if token is None:
        return None
    seat = sessions.resume(token, seats.parse_last_number(request.headers.get(seats.LAST_NUMBER)), who)
    socket.headers[seats.SEAT] = seats.NEW if seat is None else seats.RESUMED
    return seat or Seat(token)
