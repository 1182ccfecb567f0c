"""UNIX time that goes on when the system's clock is set. Pure: both clocks are passed in as functions.

Inside, times are steady; the wall's time is for the wire and for people. Frames are dated by the wall's clock of the
machine that drew them, so that a date may be from before a step and read after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

# Both clocks are slewed alike; what differs by more was set. Reading one after the other takes microseconds, unless the
# process is held up in between.
STEP_S: Final = 0.5

# Dates from before a step come in for so long after it.
RECENT_S: Final = 60.0

Clock = Callable[[], float]


class SteadyClock:
    """Steady UNIX time: the wall's when it was made."""

    def __init__(self, wall: Clock, monotonic: Clock) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self.offset: float = wall() - monotonic()
        """What to add to the monotonic clock to get the steady time."""
        self.step: float = 0.0
        """How far the wall's clock is ahead, in seconds, as ``now`` has seen last: add it to get the wall's time."""
        # How far it was ahead before it was set last, and until when that matters.
        self._step_before = 0.0
        self._set_lately_until = 0.0

    def now(self) -> float:
        """Return the steady time in UNIX seconds; notice a step of the wall's clock."""
        steady = self._monotonic() + self.offset
        step = self._wall() - steady
        if abs(step - self.step) > STEP_S:
            self._step_before, self.step = self.step, step
            self._set_lately_until = steady + RECENT_S
        return steady

    def age(self, wall_time: float) -> float:
        """Return how many seconds ago it was ``wall_time``, a date of lately: by the clock as it is, or was."""
        now = self.now()
        ago = now + self.step - wall_time
        if now < self._set_lately_until:
            ago = min(ago, now + self._step_before - wall_time, key=abs)
        return ago
