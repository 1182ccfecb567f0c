"""Warm spares: plays of the next episodes, started and ready on screens of their own before anybody asks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from .play import Broken, Play

log = logging.getLogger(__name__)

_NAME: Final = "warm spare"


@dataclass(frozen=True)
class _Spare:
    play: Play
    resting: asyncio.Task[None]


class Spares:
    """Keeps ``count`` plays ready. ``make`` starts one, gently or not, and leads it to its episode."""

    def __init__(self, count: int, make: Callable[[bool], Awaitable[Play]]) -> None:
        self._count = count
        self._make = make
        self._ready: list[_Spare] = []
        self._making: asyncio.Task[None] | None = None

    async def take(self) -> Play:
        """A play that is ready: one that waits, else the one that is being made, else another.

        Raises:
            Broken: there is none, and none can be made.
        """
        while self._making is not None and not self._ready:
            await asyncio.wait({self._making})
        if not self._ready:
            return await self._make(False)
        spare = self._ready.pop(0)
        spare.resting.cancel()
        return spare.play

    def fill(self) -> None:
        """Make what is missing, one after the other, in the background."""
        if self._making is None and len(self._ready) < self._count:
            self._making = asyncio.create_task(self._make_one(), name=_NAME)

    async def close(self) -> None:
        """Make no more, and end those that are ready."""
        # One that has just ceased to be ready would have another take its place.
        self._count = 0
        tasks = [spare.resting for spare in self._ready] + ([self._making] if self._making else [])
        plays = [spare.play for spare in self._ready]
        self._ready.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(play.stop() for play in plays))

    async def _make_one(self) -> None:
        try:
            play = await self._make(True)
        except Broken as error:
            # Whoever needs it makes another, and is told of that one's failure.
            log.warning("%s: %s", _NAME, error)
            return
        finally:
            self._making = None
        self._ready.append(_Spare(play, asyncio.create_task(self._rest(play), name=_NAME)))
        self.fill()

    async def _rest(self, play: Play) -> None:
        """Until it isn't ready any more: then another takes its place."""
        await play.rest()
        self._ready = [spare for spare in self._ready if spare.play is not play]
        await play.stop()
        self.fill()
