"""Keeps the browser of a runtime's pages running while there is a screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pluriverse_server.sources.page.guard import Windows
from pluriverse_server.tasks import call_later, start_task

from .browser import Browser, Preferences
from .program import Lost

# A browser that exits may hang up first; the exit status says more than the hang-up.
HANG_UP_GRACE_S: Final = 0.5


class BrowserKeeper:
    """Runs one browser at a time. ``environment`` names the screen; None while there is none."""

    def __init__(
        self, folder: Path, *, popups: bool, on_gone: Callable[[str, str], None], on_lost: Callable[[Lost], None]
    ) -> None:
        """Use ``folder`` for the profile. Call ``on_gone`` for lost windows, ``on_lost`` for a lost browser."""
        self.environment: Mapping[str, str] | None = None
        self.browser: Browser | None = None
        self.windows: Windows | None = None
        self._folder = folder
        self._popups = popups
        self._on_gone = on_gone
        self._on_lost = on_lost
        self._ending: asyncio.Task[None] | None = None

    async def start(
        self,
        environment: Mapping[str, str],
        flags: Sequence[str],
        network: bool | int,
        preferences: Preferences | None = None,
    ) -> Windows | None:
        """Start the browser if needed, and return its windows; None if the screen was lost meanwhile.

        ``network``: as ``ChildProcess.start`` has it.
        """
        if self._ending is not None:
            await asyncio.shield(self._ending)
        if self.browser is None:
            browser = await Browser.start(environment, self._folder, flags, network, preferences)
            if self.environment is not environment:
                await browser.stop()
                return None
            self.browser = browser
            self.windows = Windows(browser.devtools, popups=self._popups, on_gone=self._on_gone)
            browser.process.on_end(lambda: self._ended(browser))
            browser.devtools.on_close(lambda why: self._hung_up(browser, why))
            await self.windows.start()
        return self.windows

    async def end(self) -> None:
        self._forget()
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def _hung_up(self, browser: Browser, why: str) -> None:
        # A page can cause this by sending too much at once; it doesn't count towards giving up.
        call_later(HANG_UP_GRACE_S, "browser: hang-up", self._lose, browser, Lost(f"browser: {why}", died=False))

    def _ended(self, browser: Browser) -> None:
        process = browser.process
        self._lose(browser, Lost(f"browser {process.describe_end()}", process.output_tail))

    def _lose(self, browser: Browser, lost: Lost) -> None:
        if browser is self.browser:
            self._forget()
            self._on_lost(lost)

    def _forget(self) -> None:
        browser, self.browser, self.windows = self.browser, None, None
        if browser is not None:
            self._ending = start_task(browser.stop(), "browser's end")
