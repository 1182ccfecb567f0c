"""Frames on a steady grid; time is passed in."""

from __future__ import annotations

import math


class Pacer:
    """Computes when the next frame is due. Frame n of the grid is due ``n / fps`` seconds after ``start``.

    A program that falls behind skips frames, counts them as late, and stays on the grid: there are no bursts.
    """

    def __init__(self, fps: float, start: float) -> None:
        """``start`` is when the first frame is due, on the clock that ``take`` is asked with.

        Raises:
            ValueError: ``fps`` isn't a positive number.
        """
        if not (fps > 0 and math.isfinite(fps)):
            raise ValueError(f"{fps} frames a second can't be paced, give a positive number")
        self.fps = fps
        self.frames = 0
        self.late_frames = 0
        self._start = start
        self._slot = 0

    @property
    def next_due(self) -> float:
        """When the next frame is due."""
        return self._start + self._slot / self.fps

    def take(self, now: float) -> bool:
        """Return whether to draw a frame now; if so it is counted, with those that were skipped before it."""
        if now < self.next_due:
            return False
        skipped = max(0, math.floor((now - self._start) * self.fps) - self._slot)
        self.frames += 1
        self.late_frames += skipped
        self._slot += skipped + 1
        # The product above may be rounded down: a frame whose time has come is skipped too.
        while self.next_due <= now:
            self._slot += 1
            self.late_frames += 1
        return True
