"""A runtime's folder of web pages, served to its own browser on a loopback port."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from aiohttp import web

from pluriverse_server.process import StartError

# The browser is told where this host is, and that there is no other. A page of localhost may do what one of https may.
HOST: Final = "page.localhost"
ORIGIN: Final = f"http://{HOST}"

# The tables of slim images know few types, and a page's parts must come with the right ones.
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".xml": "application/xml",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".wasm": "application/wasm",
    ".swf": "application/x-shockwave-flash",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
    ".otf": "font/otf",
    ".pdf": "application/pdf",
}

# A page's script that asks for what isn't there should hear so at once, and an edited file be seen by the next episode.
_HEADERS: Final = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}


class Files:
    """The folder, served while it is started. Nothing outside of it is, and nothing is listed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = folder.resolve()
        self._runner: web.AppRunner | None = None

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        assert self._runner is not None
        return self._runner.addresses[0][1]

    async def start(self) -> None:
        """Begin to serve.

        Raises:
            StartError: the folder isn't there, or there is no port to be had.
        """
        if not self._folder.is_dir():
            raise StartError(
                f"page.files: there is no folder {self._folder}; fill it as the runtime's own notes say, or mount yours"
            )
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
        """Serve no more."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def require(self, start: str) -> None:
        """Make sure that the page which an episode starts with is there.

        Raises:
            StartError: it isn't; names the file.
        """
        path = unquote(urlsplit(start).path)
        if self._find(path) is None:
            raise StartError(f"page.start: there is no file {self._folder / path.lstrip('/')}")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        # A page of another host, in another browser, can't have it by making its own name mean this machine.
        if request.host.partition(":")[0] != HOST:
            raise web.HTTPForbidden
        path = await asyncio.to_thread(self._find, request.match_info["path"])
        if path is None:
            raise web.HTTPNotFound
        content_type = TYPES.get(path.suffix.lower(), "application/octet-stream")
        return web.FileResponse(path, headers={**_HEADERS, "Content-Type": content_type})

    def _find(self, path: str) -> Path | None:
        """The file; None if there is none within the folder, or it is a folder."""
        try:
            found = (self._root / path.lstrip("/")).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            return None
        return found if found.is_relative_to(self._root) and found.is_file() else None
