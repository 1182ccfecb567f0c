"""The event loop of a daemon and of its scrapers, whose clock stands still while they can't run."""

from __future__ import annotations

import asyncio
import math
import selectors
import time
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

# A loop that comes later than this was stopped, or starved. No time limit is so short that less would matter to it.
MAX_LATE_S: Final = 0.5


class SteadyLoop(asyncio.SelectorEventLoop):
    """Doesn't count the time that it was stopped (SIGSTOP, a paused container), or got no CPU.

    All timers and time limits use this clock, so that a pause counts against neither side: a
    stopped program has drawn no frames, and a running one's pending messages are read first.
    """

    def __init__(self) -> None:
        self._watch = _Watch()
        super().__init__(_WatchedSelector(self._watch))

    def time(self) -> float:
        return self._watch.time()


def run(main: Coroutine[Any, Any, _T]) -> _T:
    with asyncio.Runner(loop_factory=SteadyLoop) as runner:
        return runner.run(main)


class _Watch:
    """A monotonic clock that leaves out each gap between two looks at it that is longer than MAX_LATE_S."""

    def __init__(self) -> None:
        self._lost_s = 0.0
        self._looked_at = time.monotonic()

    def is_late(self, waited_s: float) -> bool:
        """Whether the gap since the last look is longer than ``waited_s`` by so much that it was no wait."""
        return time.monotonic() - self._looked_at - waited_s > MAX_LATE_S

    def time(self, waited_s: float = 0.0, *, heard: bool = False) -> float:
        """Return the time; a gap of ``waited_s`` since the last look was wanted, for as long as nothing was heard."""
        now = time.monotonic()
        gap_s = now - self._looked_at
        if gap_s - waited_s > MAX_LATE_S:
            # Its time within the gap is unknown: it goes before time limits that ended in it.
            self._lost_s += gap_s if heard else gap_s - waited_s
        self._looked_at = now
        return now - self._lost_s


class _WatchedSelector(selectors.DefaultSelector):
    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self._watch = watch

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._watch.time()
        waited_s = math.inf if timeout is None else max(0.0, timeout)
        ready = super().select(timeout)
        if not ready and self._watch.is_late(waited_s):
            # The kernel breaks a wait off to stop the process, and after the timeout Python doesn't look again.
            ready = super().select(0)
        self._watch.time(waited_s, heard=bool(ready))
        return ready
