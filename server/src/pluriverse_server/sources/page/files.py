"""Serves a runtime's folder of web pages to its own browser, on a loopback port, and what its own code answers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from pluriverse_server.process import StartError
from pluriverse_server.task import PageRequest, PageResponse, TaskError, described, load_functions

log = logging.getLogger(__name__)

# The browser resolves this host and no other. Pages of localhost may do what pages of https may.
HOST: Final = "page.localhost"
ORIGIN: Final = f"http://{HOST}"

# Slim images know few types, and a page's parts must come with the right ones.
_PLAIN_TYPES: Final = {
    "text": ("html", "css", "csv"),
    "application": ("json", "xml", "wasm", "pdf"),
    "image": ("png", "jpeg", "gif", "webp", "avif"),
    "audio": ("ogg", "wav"),
    "video": ("mp4", "webm"),
    "font": ("woff", "woff2", "ttf", "otf"),
}
TYPES: Final = {f".{name}": f"{kind}/{name}" for kind, names in _PLAIN_TYPES.items() for name in names} | {
    ".htm": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".map": "application/json",
    ".txt": "text/plain",
    ".swf": "application/x-shockwave-flash",
    ".jpg": "image/jpeg",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".mp3": "audio/mpeg",
}

# What a page may send to its runtime's own code at once.
MAX_BODY_BYTES: Final = 1024 * 1024

# How long that may take to answer; others wait meanwhile.
RESPOND_S: Final = 5.0

# An edited file must be seen by the next episode.
_HEADERS: Final = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}


class _FileResponse(web.FileResponse):
    def __init__(
        self, path: Path, headers: Mapping[str, str], sending: Callable[[], contextlib.AbstractContextManager[None]]
    ) -> None:
        super().__init__(path, headers=headers)
        self._sending = sending

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        with self._sending():
            return await super().prepare(request)


class Files:
    """Serves the folder between ``start`` and ``stop``: nothing outside of it, and no listings."""

    def __init__(self, folder: Path, serve: Path | None = None, address: str = "127.0.0.1", port: int = 0) -> None:
        """``serve``: a file whose ``respond(request, home)`` answers what isn't in the folder; see ``PageRequest``.

        ``port`` 0: any.
        """
        self._place = address, port
        self._folder = folder
        self._serve = serve
        self._turn = asyncio.Lock()
        self.home: Path | None = None
        """Where that keeps its data."""
        self._root = folder.resolve()
        self._runner: web.AppRunner | None = None
        self._answering = 0
        self.answered = 0
        """How many steps of answering have ended so far."""

    @property
    def port(self) -> int:
        assert self._runner is not None
        return self._runner.addresses[0][1]

    @property
    def busy(self) -> bool:
        return self._answering > 0

    async def start(self) -> None:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await runner.setup()
        try:
            await web.TCPSite(runner, *self._place).start()
        except OSError as error:
            await runner.cleanup()
            raise StartError(f"page.files could not be served at {self._place}: {error}") from error
        self._runner = runner

    async def stop(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def require(self, start: str) -> None:
        """Raise StartError, with the file's name, if the page that an episode starts with doesn't exist."""
        if not self._folder.is_dir():
            raise StartError(
                f"page.files: no folder {self._folder}; fill it as the runtime's README describes, or mount yours"
            )
        path = unquote(urlsplit(start).path)
        if self._serve is None and self._find(path) is None:
            raise StartError(f"page.start: there is no file {self._folder / path.lstrip('/')}")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        # Against DNS rebinding: a page of another host, in another browser, that lets its name mean this machine.
        if request.host.partition(":")[0] != HOST:
            raise web.HTTPForbidden
        with self._counted():
            path = await asyncio.to_thread(self._find, request.match_info["path"])
            if path is None and self._serve is not None and self.home is not None:
                return await self._respond(request, self._serve)
        if path is None:
            raise web.HTTPNotFound
        if request.method not in ("GET", "HEAD"):
            raise web.HTTPMethodNotAllowed(request.method, ("GET", "HEAD"))
        content_type = TYPES.get(path.suffix.lower(), "application/octet-stream")
        if content_type.startswith("text/"):
            content_type += "; charset=utf-8"
        return _FileResponse(path, {**_HEADERS, "Content-Type": content_type}, self._counted)

    async def leave_home(self) -> None:
        """Let go of it: what has been asked for and isn't being answered yet isn't there any more."""
        async with self._turn:
            self.home = None

    async def _respond(self, request: web.Request, serve: Path) -> web.StreamResponse:
        """Return what the runtime's own code answers, one request at a time."""
        body = await request.read()
        is_form = request.content_type == "application/x-www-form-urlencoded"
        form = dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True)) if is_form else {}
        query, cookies = dict(request.query), dict(request.cookies)
        asked = PageRequest(request.method, request.path, query, form, cookies, body)
        async with self._turn:
            home = self.home
            if home is None:
                raise web.HTTPNotFound
            try:
                async with asyncio.timeout(RESPOND_S):
                    said = await asyncio.to_thread(lambda: load_functions(serve)["respond"](asked, home))
            except TimeoutError:
                said = _failed(f"{serve}: respond took longer than {RESPOND_S:g} s")
            except TaskError as error:
                said = _failed(str(error))
            except Exception as error:  # noqa: BLE001 - it is the runtime's own
                said = _failed(described(serve, error))
        if said is None:
            raise web.HTTPNotFound
        answer = said if isinstance(said, PageResponse) else PageResponse(str(said))
        data = answer.body.encode() if isinstance(answer.body, str) else answer.body
        kind = {"Content-Type": answer.type}
        return web.Response(body=data, status=answer.status, headers={**_HEADERS, **kind, **answer.headers})

    @contextlib.contextmanager
    def _counted(self) -> Generator[None]:
        self._answering += 1
        try:
            yield
        finally:
            self._answering -= 1
            self.answered += 1

    def _find(self, path: str) -> Path | None:
        """Return the file, or None unless the folder has it."""
        try:
            found = (self._root / path.lstrip("/")).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            return None
        return found if found.is_relative_to(self._root) and found.is_file() else None


def _failed(why: str) -> PageResponse:
    log.warning("page.serve: %s", why)
    return PageResponse(why, 500, "text/plain; charset=utf-8")
