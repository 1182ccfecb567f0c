"""Serves the page beside the program that is looked at, on this machine only, at an address that can't be guessed.

=====================  =======================================================================================
``/TOKEN/``            the page; the viewer, where the program is played, is a frame in it
``/TOKEN/static``      its scripts and styles; ``/TOKEN/viewer`` has the viewer's
``/TOKEN/state``       what is known: the viewer's address, runtime.toml, the sources with what they read now
``/TOKEN/frame.png``   the screen as it is now; its header ``X-Frame`` is what a region of it is read by
``/TOKEN/ask/WORD``    POST, JSON in and out: reads, lists, searches and writes; WORD is in ``Look.questions``
=====================  =======================================================================================
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, cast

from aiohttp import web

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.authoring.label.server import HOST, TOKEN_BYTES
from pluriverse_server.manifest.runtime import ManifestError
from pluriverse_server.viewer.routes import STATIC as VIEWER_STATIC

STATIC: Final = Path(__file__).parent / "static"

# The viewer is a page of another port of this machine.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'self'; img-src 'self' blob:; frame-src http://127.0.0.1:* http://localhost:*; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)

# Choices are some hundred bytes; what a person writes into a field isn't a megabyte.
MAX_QUESTION_BYTES: Final = 1024 * 1024

Question = Callable[[Mapping[str, Any]], Awaitable[Any]]


class Look(Protocol):
    """What is looked at, as ``looking.Looking`` has it."""

    @property
    def questions(self) -> Mapping[str, Question]:
        """What can be asked, by its word; each raises AuthoringError, with what the page is to say."""
        ...

    async def state(self) -> dict[str, Any]:
        """Return what the page shows all the time."""
        ...

    async def frame(self) -> tuple[int, bytes]:
        """Take a picture of the screen; return its number and the PNG. Raises AuthoringError if there is none."""
        ...


@contextlib.asynccontextmanager
async def serving(look: Look, port: int = 0) -> AsyncGenerator[str]:
    """Serve within the context, which yields the page's address; raise OSError if the port is taken (0: any)."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    runner = web.AppRunner(_app(look, token), shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        yield f"http://{HOST}:{runner.addresses[0][1]}/{token}/"
    finally:
        await runner.cleanup()


def _app(look: Look, token: str) -> web.Application:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / "index.html")

    async def state(_: web.Request) -> web.StreamResponse:
        return web.json_response(await look.state())

    async def frame(_: web.Request) -> web.StreamResponse:
        number, png = await look.frame()
        return web.Response(body=png, content_type="image/png", headers={"X-Frame": str(number)})

    async def ask(request: web.Request) -> web.StreamResponse:
        question = look.questions.get(request.match_info["word"])
        if question is None:
            raise web.HTTPNotFound(text="nothing is asked so")
        try:
            asked: Any = json.loads(await request.read() or b"{}")
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            raise web.HTTPBadRequest(text="expected a JSON object")
        return web.json_response(await question(cast("dict[str, Any]", asked)))

    app = web.Application(client_max_size=MAX_QUESTION_BYTES)
    inner = web.Application(client_max_size=MAX_QUESTION_BYTES, middlewares=[_tell_mistakes])
    inner.add_routes(
        [
            web.get("/", page),
            web.get("/state", state),
            web.get("/frame.png", frame),
            web.post("/ask/{word}", ask),
            web.static("/static", STATIC),
            web.static("/viewer", VIEWER_STATIC),
        ]
    )
    inner.on_response_prepare.append(_add_headers)
    app.add_subapp(f"/{token}/", inner)
    return app


@web.middleware
async def _tell_mistakes(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except (AuthoringError, ManifestError) as error:
        return web.Response(status=web.HTTPConflict.status_code, text=str(error))
    except (KeyError, TypeError, ValueError) as error:
        return web.Response(status=web.HTTPBadRequest.status_code, text=f"asked in another way: {error!r}")


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers.setdefault("Cache-Control", "no-store")
