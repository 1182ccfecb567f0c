"""How long processes had work to do and no CPU to do it: what a busy machine, and not they, takes longer for."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Final

import psutil

PROC: Final = Path("/proc")

# How many times as long as with a CPU something may take that waits for one.
BUSY: Final = 5


class Patience:
    """Waits for a process and its descendants for so many seconds in which they don't wait for a CPU themselves."""

    def __init__(self, root: int, limit_s: float, now: float) -> None:
        """``now`` is in seconds of a clock that goes on evenly, as that of the event loop."""
        self.limit_s = limit_s
        self._root = root
        self._began = now
        self._waited_s: float | None = None

    def is_over(self, now: float) -> bool:
        """Return whether it takes too long, or takes BUSY times the limit."""
        took_s = now - self._began
        if self._waited_s is None and took_s > self.limit_s / 10:
            # To ask takes as long as most of what is waited for.
            self._waited_s = cpu_wait_s(self._root)
        if self._waited_s is None or took_s < self.limit_s:
            return False
        waited_s = cpu_wait_s(self._root) - self._waited_s
        return took_s > BUSY * self.limit_s or took_s - waited_s > self.limit_s


def cpu_wait_s(root: int) -> float:
    """Return the seconds that ``root`` and its descendants have waited for a CPU, all of their threads added up.

    Where the kernel doesn't count that for threads: the seconds in which anybody on the machine has, else 0.
    """
    schedules = [schedule for pid in _tree(root) for schedule in _schedules(pid)]
    # Nanoseconds on a CPU, nanoseconds of waiting for one, and turns.
    waits = [int(schedule.split()[1]) for schedule in schedules]
    return sum(waits) / 1e9 if waits else _pressure_s()


def _tree(root: int) -> list[int]:
    with contextlib.suppress(psutil.Error):
        return [root, *(child.pid for child in psutil.Process(root).children(recursive=True))]
    return []


def _schedules(pid: int) -> list[bytes]:
    found: list[bytes] = []
    with contextlib.suppress(OSError):
        for task in (PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                found.append((task / "schedstat").read_bytes())
    return found


def _pressure_s() -> float:
    try:
        total = re.search(r"^some .*total=(\d+)", (PROC / "pressure/cpu").read_text(), re.MULTILINE)
    except OSError:
        return 0.0
    return int(total[1]) / 1e6 if total else 0.0
