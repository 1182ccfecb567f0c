"""When a remote that keeps dying should give up. Pure; time is passed in."""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

# One crash is an accident and heals; this many in so short a time will not heal by themselves.
MAX_CRASHES: Final = 5
WINDOW_S: Final = 60.0


class CrashLimiter:
    """The deaths of the last minute."""

    def __init__(self) -> None:
        self._deaths: deque[tuple[float, str]] = deque()

    def record(self, what: str, now: float) -> bool:
        """Note that ``what`` died (``program: killed by SIGKILL``). True if the remote should give up. Seconds."""
        self._deaths.append((now, what))
        while now - self._deaths[0][0] > WINDOW_S:
            self._deaths.popleft()
        return len(self._deaths) >= MAX_CRASHES

    def summary(self) -> str:
        """What died how often, most frequent first."""
        counts = Counter(what for _, what in self._deaths).most_common()
        return "; ".join(f"{what} ({count}x)" for what, count in counts)
