"""The rewarder port: WebSocket on any path, and beside it plain HTTP for health, metrics and the viewer."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiohttp import WSCloseCode, web
from pluriverse_protocol import Headers, encode, lane, seats
from pluriverse_protocol.messages import Close

from pluriverse_server.process import StartError, listeners, port_fault
from pluriverse_server.viewer.hub import ViewerHub
from pluriverse_server.viewer.routes import add_viewer, is_same_origin

from .connection import CLOSE_TIMEOUT_S, MAX_CLOSE_REASON_BYTES, Connection
from .door import Door
from .hub import FAREWELL_S, Hub
from .requests import RequestError
from .seat import Seat
from .site import Site

# Beyond this aiohttp closes with code 1009; between the protocol's limit and this, an error reply says what was wrong
# and the connection stays open.
MAX_FRAME_BYTES: Final = 1024 * 1024

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_UNAUTHORIZED: Final = (
    "the password is missing or wrong: send HTTP Basic authentication with the remote's password as the username"
)
_NOT_WEBSOCKET: Final = (
    "this port speaks WebSocket; for people there is /viewer/, for machines /healthz, /readyz and /metrics"
)
OTHER_ORIGIN: Final = "only the remote's own pages may connect from a browser"
_SLOT: Final = re.compile(r"[0-9]{1,3}")
_FULL: Final = "this remote has as many connections as it serves; try again when one has gone"


@dataclass(frozen=True, slots=True)
class Views:
    """Sources of the HTTP side: the state as JSON, the metrics' text, whether VNC answers, and the viewer's socket."""

    status: Callable[[], Mapping[str, Any]]
    metrics: Callable[[], bytes]
    screen_answers: Callable[[], bool]
    vnc_socket: Path


def make_app(hub: Hub, door: Door, views: Views) -> tuple[web.Application, ViewerHub]:
    """Return the application on the rewarder port, and the viewers that it serves."""

    async def health(_: web.Request) -> web.Response:
        return web.json_response({"status": "alive"})

    async def ready(_: web.Request) -> web.Response:
        status = views.status()
        screen = views.screen_answers()
        is_ready = screen and status["env_state"] == "running"
        state = {key: status[key] for key in ("env_id", "env_state", "episode_id")}
        return web.json_response({"ready": is_ready, "screen": screen, **state}, status=200 if is_ready else 503)

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=views.metrics(), headers={"Content-Type": METRICS_TYPE})

    async def rewarder(request: web.Request) -> web.StreamResponse:
        if not web.WebSocketResponse().can_prepare(request).ok:
            status = 426 if request.path == "/" else 404
            return web.json_response({"error": _NOT_WEBSOCKET}, status=status)
        if not is_same_origin(request):
            raise web.HTTPForbidden(text=OTHER_ORIGIN)
        return await _serve_websocket(hub, door, request)

    async def step(request: web.Request) -> web.StreamResponse:
        if not web.WebSocketResponse().can_prepare(request).ok:
            return web.json_response({"error": _NOT_WEBSOCKET}, status=426)
        if not is_same_origin(request):
            raise web.HTTPForbidden(text=OTHER_ORIGIN)
        return await _open_lane(hub, door, request)

    app = web.Application()
    app.router.add_get("/healthz", health)
    app.router.add_get("/readyz", ready)
    app.router.add_get("/metrics", metrics)
    viewers = add_viewer(
        app,
        door=door,
        snapshot=views.status,
        vnc_socket=views.vnc_socket,
    )
    app.router.add_get(lane.PATH, step)
    app.router.add_get("/{path:.*}", rewarder)
    return app, viewers


async def listen(app: web.Application, door: Door, host: str, port: int) -> web.AppRunner:
    """Serve ``app``; the caller cleans the runner up.

    Raises:
        StartError: the port can't be had.
    """
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=FAREWELL_S)
    await runner.setup()
    try:
        for listener in listeners(host, port):
            await Site(runner, listener, door).start()
    except OSError as error:
        await runner.cleanup()
        raise StartError(port_fault("rewarder", host, port, "--rewarder-port", error)) from error
    return runner


async def _serve_websocket(hub: Hub, door: Door, request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(
        timeout=CLOSE_TIMEOUT_S, autoping=False, max_msg_size=MAX_FRAME_BYTES, compress=False, protocols=()
    )
    observer = request.headers.get("openai-observer", "").lower() == "true"
    seat = None
    # Old agents ignore the status code: a refusal is a message on the open connection, which is then closed.
    refusal = None if await door.is_authorized(request) else _UNAUTHORIZED
    if refusal is None:
        seat = None if observer else _take_seat(hub, request, socket)
        refusal = _FULL if hub.full or not door.admit(request) else None
    await socket.prepare(request)
    if refusal is not None:
        await socket.send_str(encode(Close(refusal), Headers(message_id=0, sent_at=time.time())))
        await socket.close(code=WSCloseCode.OK, message=refusal.encode()[:MAX_CLOSE_REASON_BYTES])
        return socket
    transport = request.transport
    if not isinstance(transport, asyncio.Transport):
        return socket  # gone already
    peer = request.remote or "somewhere"
    await Connection(hub, socket, transport, observer=observer, peer=peer, seat=seat).run()
    return socket


async def _open_lane(hub: Hub, door: Door, request: web.Request) -> web.StreamResponse:
    """Give the agent's connection to the process that steps, which alone speaks on it from then on."""
    if not await door.is_authorized(request):
        return _refused(401, _UNAUTHORIZED)
    token, peer = _token(request), request.remote or "somewhere"
    if not hub.is_agent(token, peer):
        return _refused(403, "only the remote's agent takes steps; connect, and send a reset first")
    slot = request.query.get(lane.SLOT, "0")
    if not _SLOT.fullmatch(slot):
        return _refused(400, f"the slot is {slot!r:.80}; expected a number")
    try:
        view = lane.parse_view(request.query)
    except ValueError as error:
        return _refused(400, str(error))
    try:
        hub.requests.require_lane(int(slot), view)
    except RequestError as error:
        return _refused(409, str(error))
    socket = web.WebSocketResponse(autoping=False, compress=False)
    await socket.prepare(request)
    transport = request.transport
    if isinstance(transport, asyncio.Transport):
        # Who has lost its seat meanwhile is hung up on.
        with contextlib.suppress(ConnectionError), transport.get_extra_info("socket").dup() as connection:
            if hub.is_agent(token, peer):
                hub.requests.open_lane(connection, int(slot), view)
        # The program has the connection now; here it ends without a word.
        transport.abort()
    return socket


def _refused(status: int, error: str) -> web.Response:
    return web.json_response({"error": error}, status=status)


def _token(request: web.Request) -> str | None:
    """Return the token by which an agent names itself; pages give it in the address."""
    return seats.parse_token(request.headers.get(seats.TOKEN) or request.query.get(seats.TOKEN))


def _take_seat(hub: Hub, request: web.Request, socket: web.WebSocketResponse) -> Seat | None:
    """Return the seat of an agent that names itself by a token, and tell it in the answer whether it is its old one."""
    token = _token(request)
    if token is None:
        return None
    seat = hub.resume(token, seats.parse_last_number(request.headers.get(seats.LAST_NUMBER)))
    socket.headers[seats.SEAT] = seats.NEW if seat is None else seats.RESUMED
    return seat or Seat(token)
