"""The clock of a program that has its own: it is stopped between steps, and goes on for as long as a step lasts."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from .clock import Advance

# What a stopped process may have started just before it was.
LOOKS: Final = 3


class FrozenClock:
    """Stops all processes that ``pids`` returns, at once, and lets them go on for a step. Blocking.

    A step takes as long as it lasts, and what happens in it is a matter of chance.
    """

    def __init__(self, pids: Callable[[], Collection[int]]) -> None:
        self._pids = pids
        self.elapsed = 0.0
        """The seconds for which they went on."""
        self._stop()

    def advance(self, seconds: float, *, patience_s: float = 0.0) -> Advance:
        del patience_s
        if not self._signal(self._pids(), signal.SIGCONT):
            return Advance.ENDED
        time.sleep(seconds)
        self._stop()
        self.elapsed += seconds
        return Advance.DONE

    def turns(self) -> bytes:
        """Return nothing: the X server goes on meanwhile."""
        return b""

    def asked(self) -> Counter[str]:
        """Return nothing: the program's requests to the machine aren't visible."""
        return Counter()

    def sound(self) -> NDArray[np.int16]:
        """Return silence: the program plays in real time."""
        return np.zeros((0, 2), np.int16)

    def close(self) -> None:
        self._signal(self._pids(), signal.SIGCONT)

    def _stop(self) -> None:
        stopped: set[int] = set()
        for _ in range(LOOKS):
            found = set(self._pids()) - stopped
            if not found:
                return
            self._signal(found, signal.SIGSTOP)
            stopped |= found

    @staticmethod
    def _signal(pids: Collection[int], signum: signal.Signals) -> int:
        reached = 0
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signum)
                reached += 1
        return reached

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
