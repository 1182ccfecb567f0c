"""Pauses between attempts to reach a remote that broke. Pure: times and chance are passed in."""

from __future__ import annotations

from typing import Final

# The first attempt is made at once, since most lines and remotes are back within a second; then the pauses double.
FIRST_PAUSE_S: Final = 0.1
GROWTH: Final = 2.0

# Often enough to be back soon after a long outage, seldom enough that a thousand agents are no burden.
LONGEST_PAUSE_S: Final = 3.0

# Remotes that broke together shouldn't all be tried at the same moment.
JITTER: Final = 0.5

# A connection that held for so long was a good one; one that breaks sooner counts as another failed attempt.
STEADY_S: Final = 5.0


class Backoff:
    """The attempts to reach one remote. Times are seconds of a steady clock."""

    def __init__(self) -> None:
        self._attempts = 0
        self._whole_since: float | None = None
        self._broken_since: float | None = None

    def broke(self, now: float) -> None:
        """Note that the connection broke; nothing changes if it was broken already."""
        if self._whole_since is None and self._broken_since is not None:
            return
        if self._whole_since is not None and now - self._whole_since >= STEADY_S:
            self._attempts = 0
        self._whole_since = None
        self._broken_since = now

    def whole(self, now: float) -> None:
        self._whole_since = now

    def broken_for(self, now: float) -> float:
        """Return for how long it has been broken; each time counts for itself."""
        return now - self._broken_since if self._broken_since is not None else 0.0

    def pause(self, chance: float) -> float:
        """Return the pause before the next attempt, in seconds. ``chance`` is random, from 0 to 1."""
        self._attempts += 1
        if self._attempts == 1:
            return 0.0
        # Not to a power without bounds: a remote may stay away for days.
        doublings = min(self._attempts - 2, 32)
        pause = min(FIRST_PAUSE_S * GROWTH**doublings, LONGEST_PAUSE_S)
        return pause * (1 - JITTER + 2 * JITTER * chance)
