"""Counts what has come from the rewarders of an environment."""

from __future__ import annotations

import threading

from pluriverse.bell import BELL


class Signal:
    """A count that only grows: who remembers it can tell whether something has happened since."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    @property
    def count(self) -> int:
        """How often something has happened so far."""
        return self._count

    def notify(self) -> None:
        """Count one more, and wake everybody who waits; from any thread."""
        with self._lock:
            self._count += 1
        BELL.ring()
