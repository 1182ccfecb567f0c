"""Warm spares: plays of the next episodes, ready on screens of their own before they are needed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pluriverse_server.tasks import start_task

from .play import Play
from .player import Broken

log = logging.getLogger(__name__)


class Spares:
    """Keeps ``count`` plays ready. ``make`` makes one, in the background if its argument is true."""

    def __init__(self, count: int, make: Callable[[bool], Awaitable[Play]]) -> None:
        self._count = count
        self._make = make
        self._ready: dict[Play, asyncio.Task[None]] = {}
        self._making: asyncio.Task[None] | None = None

    async def take(self) -> Play:
        """Return a play that is ready: a spare, else the one that is being made, else a new one."""
        while self._making is not None and not self._ready:
            await asyncio.wait({self._making})
        if not self._ready:
            return await self._make(False)
        play = next(iter(self._ready))
        self._ready.pop(play).cancel()
        return play

    def fill(self) -> None:
        """Make the missing plays, one after the other, in the background."""
        if self._making is None and len(self._ready) < self._count:
            self._making = start_task(self._make_one(), "warm spare")

    async def close(self) -> None:
        # A spare that has just ceased to be ready must not be replaced.
        self._count = 0
        tasks = [*self._ready.values(), *([self._making] if self._making else [])]
        plays = list(self._ready)
        self._ready.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(play.stop() for play in plays))

    async def _make_one(self) -> None:
        try:
            play = await self._make(True)
        except Broken as error:
            # The next ``take`` makes another, and raises that one's failure.
            log.warning("warm spare: %s", error)
            return
        finally:
            self._making = None
        self._ready[play] = start_task(self._rest(play), "warm spare")
        self.fill()

    async def _rest(self, play: Play) -> None:
        await play.rest()
        self._ready.pop(play, None)
        await play.stop()
        self.fill()
