"""Keeps the browser of a runtime's pages running."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from pluriverse_protocol.reports import Cause

from pluriverse_server.sources.page.guard import Windows
from pluriverse_server.tasks import call_later, start_task

from .browser import Browser, Preferences

log = logging.getLogger(__name__)

# A browser that exits may hang up first; the exit status says more than the hang-up.
HANG_UP_GRACE_S: Final = 0.5


class OnLost(Protocol):
    def __call__(self, reason: str, cause: Cause = "page") -> None: ...


class BrowserKeeper:
    """Runs one browser at a time, on the screen that ``environment`` names."""

    def __init__(
        self,
        environment: Mapping[str, str],
        folder: Path,
        *,
        popups: bool,
        on_gone: Callable[[str, str], None],
        on_lost: OnLost,
    ) -> None:
        """Use ``folder`` for the profile. Call ``on_gone`` for lost windows, ``on_lost`` for a lost browser."""
        self._environment = environment
        self.browser: Browser | None = None
        self.windows: Windows | None = None
        self._folder = folder
        self._popups = popups
        self._on_gone = on_gone
        self._on_lost = on_lost
        self._ending: asyncio.Task[None] | None = None

    async def start(self, flags: Sequence[str], network: bool | int, preferences: Preferences | None = None) -> Windows:
        """Start the browser if needed, and return its windows. ``network``: as ``ChildProcess.start`` has it."""
        if self._ending is not None:
            await asyncio.shield(self._ending)
        if self.browser is None or self.windows is None:
            browser = self.browser = await Browser.start(self._environment, self._folder, flags, network, preferences)
            windows = self.windows = Windows(browser.devtools, popups=self._popups, on_gone=self._on_gone)
            browser.process.on_end(lambda: self._ended(browser))
            browser.devtools.on_close(lambda why: self._hung_up(browser, why))
            await windows.start()
            return windows
        return self.windows

    async def end(self) -> None:
        self._forget()
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def _hung_up(self, browser: Browser, why: str) -> None:
        # A page can cause this by sending too much at once; it doesn't count towards giving up.
        call_later(HANG_UP_GRACE_S, "browser: hang-up", self._lose, browser, f"browser: {why}", "page")

    def _ended(self, browser: Browser) -> None:
        if browser is self.browser and browser.process.output_tail:
            log.warning("the browser said last:\n    %s", browser.process.output_tail.replace("\n", "\n    "))
        self._lose(browser, f"browser {browser.process.describe_end()}", "process")

    def _lose(self, browser: Browser, reason: str, cause: Cause) -> None:
        if browser is self.browser:
            self._forget()
            self._on_lost(reason, cause)

    def _forget(self) -> None:
        browser, self.browser, self.windows = self.browser, None, None
        if browser is not None:
            self._ending = start_task(browser.stop(), "browser's end")
