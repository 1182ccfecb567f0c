"""Wakes the thread that steps when something new has come from any remote."""

from __future__ import annotations

import threading


class Signal:
    """Counts what has happened; a waiter can't miss what happened between its look and its wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def notify(self) -> None:
        """Something has happened. From any thread."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    @property
    def count(self) -> int:
        """How often something has happened so far."""
        return self._count

    def wait_beyond(self, count: int, timeout_s: float) -> bool:
        """Wait until something has happened after ``count`` was read; False if nothing did within ``timeout_s``."""
        with self._changed:
            return self._changed.wait_for(lambda: self._count > count, timeout_s)
