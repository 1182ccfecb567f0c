"""A web application: what it serves, and to whom. The remote's is one, and so are its viewer and the authors' page."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol

from aiohttp import web

from pluriverse_server.access.tokens import Denied, Right, Token

STATIC: Final = Path(__file__).parent / "static"
NOVNC: Final = STATIC / "vendor" / "novnc" / "core" / "rfb.js"

NO_ASSETS: Final = (
    "The viewer has no noVNC: it is fetched when the package is built, and is missing in this installation.\n"
    "In a checkout of the sources, fetch it and reload this page:\n\n    make assets\n"
)
OTHER_ORIGIN: Final = "only the remote's own pages may connect from a browser"
FULL: Final = "the remote is at its limit of connections; try again later"
NOT_WEBSOCKET: Final = "this port speaks WebSocket; open /viewer/ in a browser, or query /healthz, /readyz and /metrics"

PAGE: Final = STATIC / "index.html"
# What the page looks like until its styles are there: allowed by its hash.
_STYLE: Final = re.search("<style>(.*?)</style>", PAGE.read_text(encoding="utf-8"), re.DOTALL)
assert _STYLE is not None
STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE[1].encode()).digest()).decode()

# Some browsers don't count WebSockets as 'self'; noVNC draws JPEG rectangles and pointers from data: images.
CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'self'",
        "connect-src 'self' ws: wss:",
        "img-src 'self' data:",
        f"style-src 'self' 'sha256-{STYLE_HASH}'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        # Pages of this machine may show several remotes side by side; they need the password, too.
        "frame-ancestors 'self' http://127.0.0.1:* http://localhost:*",
    )
)

# What is asked is some hundred bytes, labels and regions' pictures up to megabytes.
MAX_REQUEST_BYTES: Final = 16 * 1024 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
GuardedHandler = Callable[[web.Request, Token], Awaitable[web.StreamResponse]]


class Auth(Protocol):
    """Checks passwords and counts connections, as ``daemon.http_auth.HttpAuth`` does."""

    async def require(self, request: web.Request, right: Right) -> Token:
        """Return who sends a request, later for who has guessed wrong."""
        ...

    def may_control(self, who: Token) -> bool: ...

    def note(self, action: str, who: Token, request: web.Request) -> None: ...

    def admit(self, request: web.Request, who: Token) -> bool: ...


def answer(status: int, **document: object) -> web.Response:
    return web.json_response(document, status=status, headers={"Cache-Control": "no-store"})


def _refuse(status: int, why: str) -> web.Response:
    return answer(status, error=why)


class WebApp:
    """``app`` is aiohttp's. ``auth`` decides who may access guarded parts; pages of other origins may not.

    ``refuse`` makes the answer to others, of its status and why.
    """

    def __init__(self, auth: Auth | None = None, refuse: Callable[[int, str], web.Response] = _refuse) -> None:
        self.app = web.Application(client_max_size=MAX_REQUEST_BYTES)
        self._auth = auth
        self._refuse = refuse

    def serve(self, method: str, path: str, handler: Handler) -> None:
        """Serve anybody."""
        self.app.router.add_route(method, path, handler)

    def serve_page(self) -> None:
        """Serve the viewer's page, its scripts and styles."""
        self.serve("GET", "/", _page)
        self.app.router.add_static("/static", STATIC)
        self.app.on_response_prepare.append(_add_headers)

    def guard(self, method: str, path: str, right: Right, handler: GuardedHandler, *, websocket: bool = False) -> None:
        """Serve those who have the right; as a ``websocket`` only who asks for one."""
        auth = self._auth
        assert auth is not None

        async def guarded(request: web.Request) -> web.StreamResponse:
            if not is_same_origin(request):
                return self._refuse(403, OTHER_ORIGIN)
            try:
                who = await auth.require(request, right)
            except Denied as denied:
                return self._refuse(403 if denied.known else 401, str(denied))
            if websocket and not asks_for_websocket(request):
                return self._refuse(426, NOT_WEBSOCKET)
            return await handler(request, who)

        self.serve(method, path, guarded)


def asks_for_websocket(request: web.Request) -> bool:
    return web.WebSocketResponse().can_prepare(request).ok


def is_same_origin(request: web.Request) -> bool:
    """Whether a request comes from a page of this port, or from no page at all: browsers always send the origin."""
    origin = request.headers.get("Origin")
    return origin is None or origin.partition("://")[2] == request.host


async def _page(request: web.Request) -> web.StreamResponse:
    del request
    if not NOVNC.is_file():
        raise web.HTTPServiceUnavailable(text=NO_ASSETS)
    return web.FileResponse(PAGE, headers={"Cache-Control": "no-store"})


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    del request
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    # Revalidated each time, so that scripts of two releases never mix.
    response.headers.setdefault("Cache-Control", "no-cache")
