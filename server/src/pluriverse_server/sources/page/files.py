"""Serves a runtime's folder of web pages to its own browser, on a loopback port."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from pluriverse_server.process import StartError

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

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
        except OSError as error:
            await runner.cleanup()
            raise StartError(f"page.files could not be served on a port of 127.0.0.1: {error}") from error
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
        if self._find(path) is None:
            raise StartError(f"page.start: there is no file {self._folder / path.lstrip('/')}")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        # Against DNS rebinding: a page of another host, in another browser, that lets its name mean this machine.
        if request.host.partition(":")[0] != HOST:
            raise web.HTTPForbidden
        with self._counted():
            path = await asyncio.to_thread(self._find, request.match_info["path"])
        if path is None:
            raise web.HTTPNotFound
        content_type = TYPES.get(path.suffix.lower(), "application/octet-stream")
        if content_type.startswith("text/"):
            content_type += "; charset=utf-8"
        return _FileResponse(path, {**_HEADERS, "Content-Type": content_type}, self._counted)

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
