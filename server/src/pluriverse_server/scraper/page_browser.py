"""The browser of a runtime's pages on a screen: started when the first is opened, and again after it has ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

from pluriverse_protocol.reports import Cause

from pluriverse_server.display import AsyncInitialState
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.sources.page.files import HOST, Files
from pluriverse_server.sources.page.guard import Windows
from pluriverse_server.tasks import call_later, start_task

from .browser import Browser
from .page_clock import FLAGS, PREFERENCES

log = logging.getLogger(__name__)

# A browser that exits may hang up first; the exit status is more informative.
HANG_UP_GRACE_S: Final = 0.5

# Names of this machine, where the daemon listens, and whatever else does: pages can't reach them.
LOOPBACK: Final = ("localhost", "*.localhost", "127.*", "[::1]", "0.0.0.0")


class PageUser(Protocol):
    """Who has pages in a browser."""

    def gone(self, target_id: str, reason: str) -> None:
        """A page's process has ended, or it closed its window."""
        ...

    def browser_lost(self, reason: str, cause: Cause) -> None:
        """All of them have."""
        ...


class PageBrowser:
    def __init__(
        self,
        manifest: Manifest,
        files: Files | None,
        environment: Mapping[str, str],
        folder: Path,
        state: AsyncInitialState | None = None,
        rules: Sequence[str] = (),
    ) -> None:
        """``files`` are what the runtime serves, of which the port counts; ``environment`` names the screen.

        ``state`` is the screen's as it was before the first browser, None: nothing is ever left there. ``rules`` are
        further ones for names of hosts. ``folder`` is for the browser's files.
        """
        assert manifest.page is not None
        self.users: list[PageUser] = []
        self.environment: Mapping[str, str] = {**environment, **manifest.runtime.locale}
        self.current: Browser | None = None
        self._table = manifest.page
        self._language = manifest.runtime.language
        self._files = files
        self._folder = folder
        self._state = state
        self._rules = rules
        self._windows: Windows | None = None
        self._ending: asyncio.Task[None] | None = None  # of a browser that is no more this one
        # The browser whose start is in the screen's state.
        self._kept: Browser | None = None

    async def windows(self, *, lockstep: bool) -> Windows:
        """Return the windows of a browser that runs."""
        return self._windows or await self._start(lockstep=lockstep)

    def has(self, windows: Windows) -> bool:
        """Return whether these are still there."""
        return windows is self._windows

    async def restore(self) -> None:
        """Take away what an episode has left on the screen."""
        if self.current is not None and self._state is not None:
            await self._state.restore()

    def began(self) -> None:
        """Take the screen for its first state as it is now, if the browser is new."""
        if self._kept is not self.current and self._state is not None:
            self._kept = self.current
            start_task(self._state.keep(), "browser's start")

    def forget(self) -> None:
        browser, self.current, self._windows = self.current, None, None
        if browser is not None:
            self._ending = start_task(browser.stop(), "browser's end")

    async def stop(self) -> None:
        self.forget()
        if self._ending is not None:
            await asyncio.shield(self._ending)

    async def _start(self, *, lockstep: bool) -> Windows:
        if self._ending is not None:
            await asyncio.shield(self._ending)
        if self._state is not None:
            await self._state.restore_screen()
        # What a runtime serves itself comes from one port.
        network = self._files.port if self._files is not None and not self._table.origins else True
        flags = [*self._flags(), *(FLAGS if lockstep else ())]
        browser = self.current = await Browser.start(
            self.environment, self._folder, flags, network, PREFERENCES if lockstep else None
        )
        windows = self._windows = Windows(browser.devtools, popups="popups" in self._table.allow, on_gone=self._gone)
        browser.process.on_end(lambda: self._ended(browser))
        browser.devtools.on_close(lambda why: self._hung_up(browser, why))
        await windows.start()
        return windows

    def _gone(self, target_id: str, reason: str) -> None:
        for user in [*self.users]:
            user.gone(target_id, reason)

    def _hung_up(self, browser: Browser, why: str) -> None:
        # A page can cause this by sending too much at once; it doesn't count towards giving up.
        call_later(HANG_UP_GRACE_S, "browser: hang-up", self._lost, browser, f"browser: {why}", "page")

    def _ended(self, browser: Browser) -> None:
        process = browser.process
        if browser is self.current and process.output_tail:
            log.warning("the browser's last output:\n    %s", process.output_tail.replace("\n", "\n    "))
        self._lost(browser, f"browser {process.describe_end()}", "process")

    def _lost(self, browser: Browser, reason: str, cause: Cause) -> None:
        if browser is self.current:
            self.forget()
            for user in [*self.users]:
                user.browser_lost(reason, cause)

    def _flags(self) -> list[str]:
        """Return the flags for zoom, language, and hosts that resolve: files' own alone, else any but this machine."""
        shown = [f"--force-device-scale-factor={self._table.zoom}", f"--accept-lang={self._language}"]
        origins = [*self._table.origins, *([self._table.url] if self._table.url is not None else [])]
        named = [f"EXCLUDE {host}" for origin in origins if (host := urlsplit(origin).hostname)]
        if self._files is None:
            unknown = [f"MAP {host} ~NOTFOUND" for host in LOOPBACK]
            return [*shown, f"--host-resolver-rules={', '.join([*unknown, *named])}"]
        rules = [f"MAP {HOST} 127.0.0.1:{self._files.port}", "MAP * ~NOTFOUND", *named, *self._rules]
        return [*shown, f"--host-resolver-rules={', '.join(rules)}", "--no-proxy-server"]
