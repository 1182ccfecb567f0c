"""The steps that lead a program to an episode: keys, typing, clicks and files, each until a condition holds."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol.events import KeyEvent, PointerEvent

from pluriverse_server.display import AsyncInjector, DisplayLost
from pluriverse_server.home import restore
from pluriverse_server.manifest.conditions import describe, holds
from pluriverse_server.manifest.game import Step
from pluriverse_server.manifest.spaces import keysym

from .source_reader import Cycle

# How long keys and buttons stay down: three frames at 60 fps, and one at 20, for games that poll once a frame.
HOLD_S: Final = 0.05

# Characters whose keys have names.
_NAMED: Final = {"\n": "Return", "\t": "Tab", "\b": "BackSpace", "\x1b": "Escape"}


class StepFailed(Exception):
    """A step's condition did not hold in time; the message names both."""


class Steps:
    """Does the steps of one program. ``cycle`` waits for the next cycle of its sources, and reads them."""

    def __init__(
        self,
        injector: AsyncInjector,
        directory: Path,
        home: Path,
        cycle: Callable[[], Awaitable[Cycle]],
        now: Callable[[], float],
    ) -> None:
        """``directory`` is the runtime's, with the files to restore; ``now`` returns the program's time in seconds."""
        self._now = now
        self._injector = injector
        self._directory = directory
        self._home = home
        self._cycle = cycle

    async def do(self, number: int, step: Step) -> None:
        begun = done_at = self._now()
        await self._act_or_release(step)
        if step.until is None:
            return
        while True:
            cycle = await self._cycle()
            values = {name: reading.value for name, reading in cycle.readings.items()}
            if holds(step.until, values):
                return
            if self._now() - begun > step.timeout_s:
                raise StepFailed(
                    f"step {number} ({_describe(step)}): {step.until!r} did not become true within "
                    f"{step.timeout_s:g} s: {describe(step.until, values)}"
                )
            if step.every_s is not None and self._now() - done_at >= step.every_s:
                done_at = self._now()
                await self._act_or_release(step)

    async def _act_or_release(self, step: Step) -> None:
        try:
            await self._act(step)
        except BaseException:
            # Keys that stayed down could not be pressed in the next episode.
            with contextlib.suppress(DisplayLost):
                await self._injector.release_all()
            raise

    async def _act(self, step: Step) -> None:
        if step.keys is not None:
            await self._injector.apply([KeyEvent(key, True) for key in step.keys])
            await self._hold()
            await self._injector.apply([KeyEvent(key, False) for key in reversed(step.keys)])
        elif step.type is not None:
            for character in step.type:
                key = keysym(_NAMED.get(character, character))
                await self._injector.apply([KeyEvent(key, True), KeyEvent(key, False)])
        elif step.click is not None:
            x, y = step.click
            # Some programs note the pointer's position before they accept a click.
            await self._injector.apply([PointerEvent(x, y, 0)])
            await self._cycle()
            await self._injector.apply([PointerEvent(x, y, 1 << (step.button - 1))])
            await self._hold()
            await self._injector.apply([PointerEvent(x, y, 0)])
        elif step.restore is not None and step.to is not None:
            await asyncio.to_thread(restore, self._directory / step.restore, self._home, step.to)

    async def _hold(self) -> None:
        until = self._now() + HOLD_S
        while self._now() < until:
            await self._cycle()


def _describe(step: Step) -> str:
    if step.keys is not None:
        return "keys"
    if step.type is not None:
        return f"type {step.type!r:.40}"
    if step.click is not None:
        return f"click {step.click}"
    return f"restore {step.restore}" if step.restore is not None else "wait"
