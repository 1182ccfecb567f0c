"""When sources are read: at a steady rate, and at once when something was drawn."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

from pluriverse_server.lockstep import Advance, FrozenClock, PreloadedClock
from pluriverse_server.tasks import in_thread

# Timers that are early by this share of a frame are in time.
EARLY_FRAMES: Final = 1e-3

# How long to wait in one go for a program that computes in a frame's time while it starts.
LATE_S: Final = 2.0

# A program that computes for so long in a frame of an agent's step hangs.
HANG_S: Final = 30.0


class Pace:
    """The cycles of one play. ``frames`` have passed since ``begin``, ``late_frames`` of them unread."""

    def __init__(self, fps: float, drawn: asyncio.Event) -> None:
        self.fps = fps
        self._drawn = drawn
        self._last = 0.0
        self.begin()

    def begin(self) -> None:
        self._begun = asyncio.get_running_loop().time()
        self.frames = self.late_frames = 0

    def now(self) -> float:
        """Return the seconds of the program's time since some moment."""
        return asyncio.get_running_loop().time()

    def unix(self) -> float:
        return time.time()

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


class SteppedPace:
    """The cycles of a play in lockstep: each is a frame of the program's time, which stands between two."""

    def __init__(self, fps: float, clock: PreloadedClock | FrozenClock, begun: float | None = None) -> None:
        """``begun``: when the program's time began, in UNIX seconds; None: now."""
        self.fps = fps
        self.clock = clock
        self.begun = time.time() if begun is None else begun
        self.frames = self.late_frames = 0

    def begin(self) -> None:
        self.frames = self.late_frames = 0

    def now(self) -> float:
        return self.clock.elapsed

    def unix(self) -> float:
        return self.begun + self.clock.elapsed

    async def next(self) -> Advance:
        # Nobody is to go back while it takes a step.
        return await in_thread(self.step)

    async def catch_up(self) -> Advance:
        """Let a program whose step was late go on to its end."""
        return await in_thread(lambda: self.clock.advance(0.0, patience_s=LATE_S))

    def step(self, patience_s: float = LATE_S) -> Advance:
        """Let the program go on by a frame, for which it has so long. Blocking."""
        answer = self.clock.advance(1 / self.fps, patience_s=patience_s)
        self.frames += 1
        self.late_frames += answer is Advance.LATE
        return answer
