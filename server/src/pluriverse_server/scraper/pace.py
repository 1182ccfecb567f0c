"""When sources are read: at a steady rate, and at once when something was drawn."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

# Timers that are early by this share of a frame are in time.
EARLY_FRAMES: Final = 1e-3


class Pace:
    """The cycles of one play. ``frames`` have passed since ``begin``, ``late_frames`` of them unread."""

    def __init__(self, fps: float, drawn: asyncio.Event) -> None:
        self.fps = fps
        self._drawn = drawn
        self._last = 0.0
        self.begin()

    def begin(self) -> None:
        """Count frames from here."""
        self._begun = asyncio.get_running_loop().time()
        self.frames = self.late_frames = 0

    async def next(self) -> None:
        """Return when the next cycle is due: half a frame after the last if something was drawn, else a whole frame.

        So a change that was seen at once is read again half a frame to a frame later.
        """
        loop = asyncio.get_running_loop()
        period = 1 / self.fps
        if (wait := self._last + period / 2 - loop.time()) > 0:
            await asyncio.sleep(wait)
        next_frame = self._begun + (self._frame(self._last) + 1) * period
        due = max(next_frame, self._last + period / 2)
        if not self._drawn.is_set() and (wait := due - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._drawn.wait()
        self._last = loop.time()
        frames = self._frame(self._last) + 1
        if frames > self.frames:
            self.late_frames += frames - self.frames - 1
            self.frames = frames

    def _frame(self, at: float) -> int:
        # The loop's timers may be early by the clock's resolution.
        return int((at - self._begun) * self.fps + EARLY_FRAMES)
