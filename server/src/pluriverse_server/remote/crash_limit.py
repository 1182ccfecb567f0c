"""Decides when a remote that keeps crashing gives up. Pure; time is passed in."""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

# A single crash is restarted; this many in so short a time won't get better by themselves.
MAX_CRASHES: Final = 5
WINDOW_S: Final = 60.0


class CrashLimiter:
    def __init__(self) -> None:
        self._crashes: deque[tuple[float, str]] = deque()

    def record(self, what: str, now: float) -> bool:
        """Add a crash (``program: killed by SIGKILL``) at ``now``, in seconds; return whether to give up."""
        self._crashes.append((now, what))
        while now - self._crashes[0][0] > WINDOW_S:
            self._crashes.popleft()
        return len(self._crashes) >= MAX_CRASHES

    def summary(self) -> str:
        """Return what crashed how often, most frequent first."""
        counts = Counter(what for _, what in self._crashes).most_common()
        return "; ".join(f"{what} ({count}x)" for what, count in counts)
