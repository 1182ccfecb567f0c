"""The reports of a scraped program, over its own report socket."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from pluriverse_protocol.reports import Frame, Readings, Ready, Report, Reset

from pluriverse_server.sources.reports import ReportSocket

# A program that ends may close its socket first; its end is more informative.
HANG_UP_GRACE_S: Final = 0.25


class ReportListener:
    """The reports of one program's current episode. Frames and readings are the scraper's own."""

    def __init__(self, path: Path) -> None:
        """``path`` is where the socket is made: ``PLURIVERSE_SOCKET`` of the program."""
        self.ready: Ready | None = None
        self._socket = ReportSocket(path, self._connected, self._reported, self._hung_up)
        self._asked: Reset | None = None
        self._heard: list[Report] = []
        self._lost: tuple[float, str] | None = None

    async def start(self) -> None:
        await self._socket.start()

    async def stop(self) -> None:
        await self._socket.stop()

    def ask(self, reset: Reset) -> None:
        self._asked, self.ready = reset, None
        self._heard.clear()
        self._socket.send(reset)

    def take(self) -> list[Report]:
        heard, self._heard = self._heard, []
        return heard

    @property
    def loss(self) -> str | None:
        """Why the program can't be heard any more; None while it can, or may connect yet."""
        if self._lost is None or time.monotonic() - self._lost[0] < HANG_UP_GRACE_S:
            return None
        return self._lost[1]

    def _connected(self) -> None:
        self._lost = None
        if self._asked is not None:
            self._socket.send(self._asked)

    def _reported(self, report: Report) -> None:
        if self._asked is None or report.episode != self._asked.episode or isinstance(report, Frame | Readings):
            return
        if isinstance(report, Ready):
            self.ready = report
        else:
            self._heard.append(report)

    def _hung_up(self, reason: str) -> None:
        self._lost = time.monotonic(), reason
