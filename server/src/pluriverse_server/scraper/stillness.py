"""Whether processes stand still: all of their threads wait for others, and none has run meanwhile."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .tree import children

# On a CPU, waiting for one, or for the kernel, as for a part of the program that is still on the disk. Such a thread
# goes on by itself.
_RUNNING: Final = b"RD"

# What is read of a thread's file: its number, its name of at most 15 bytes and its state.
_READ_BYTES: Final = 64

# The clock of how long all threads of a process have run, from its number: MAKE_PROCESS_CPUCLOCK of the kernel, by its
# scheduler. It is exact also for those that run now.
_SCHEDULER: Final = 2


class Stillness:
    """Looks at processes, and at their threads through descriptors that stay open. ``close`` gives these back."""

    def __init__(self, pids: Sequence[int]) -> None:
        # How many links each folder of threads has: one for each of them, and two.
        self._links: dict[str, int] = {}
        self._clocks: list[int] = []
        self._threads: dict[str, int] = {}
        self._runner = ""  # the thread that was last seen to run, which often runs still
        self.watch(pids)

    def watch(self, pids: Sequence[int]) -> None:
        """Look at these processes, without their children, and at no others."""
        self._clocks = [~pid << 3 | _SCHEDULER for pid in pids]
        self._links = {folder: self._links.get(folder, 0) for folder in (f"/proc/{pid}/task" for pid in pids)}
        for thread in [each for each in self._threads if each.rpartition("/")[0] not in self._links]:
            self._forget(thread)

    def look(self) -> list[int] | None:
        """Return for how long each has run, 0 if it has ended; None if a thread is seen to run."""
        return None if self._runs(self._runner) else [_ran_ns(clock) for clock in self._clocks]

    def stood(self, since: list[int]) -> bool:
        """Return whether no thread runs, or is about to, nor has one run after the look that gave ``since``."""
        self._follow()
        for thread in self._threads:
            if self._runs(thread):
                self._runner = thread
                return False
        # One that was woken or began meanwhile was so by another, which has run, or isn't ours.
        return self.look() == since

    def close(self) -> None:
        self.watch(())

    def _runs(self, thread: str) -> bool:
        if thread not in self._threads:
            return False
        try:
            line = os.pread(self._threads[thread], _READ_BYTES, 0)
        except OSError:
            # It has ended, and another may have begun in its place.
            self._links[thread.rpartition("/")[0]] = 0
            self._forget(thread)
            return True
        # The name is in parentheses and may hold any of them.
        return line[line.rindex(b")") + 2] in _RUNNING

    def _follow(self) -> None:
        """Open the files of threads that are new, and close those of threads that have ended."""
        for folder, known in self._links.items():
            with contextlib.suppress(OSError):
                links = os.stat(folder).st_nlink  # noqa: PTH116 - each look does this
                if links != known:
                    self._links[folder] = links
                    self._list(folder)

    def _list(self, folder: str) -> None:
        found = {f"{folder}/{name}" for name in os.listdir(folder)}  # noqa: PTH208
        for thread in [each for each in self._threads if each.startswith(f"{folder}/") and each not in found]:
            self._forget(thread)
        for thread in found - self._threads.keys():
            with contextlib.suppress(OSError):
                self._threads[thread] = os.open(f"{thread}/stat", os.O_RDONLY | os.O_CLOEXEC)

    def _forget(self, thread: str) -> None:
        os.close(self._threads.pop(thread))


def _ran_ns(clock: int) -> int:
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return 0


def process_tree(root: int) -> list[int]:
    pids = [root]
    for pid in pids:
        pids += children(pid)
    return pids


def descendants(root: int, word: str) -> list[int]:
    """Return the descendants of a process that have a word on their command line."""
    found: list[int] = []
    for pid in process_tree(root)[1:]:
        with contextlib.suppress(OSError):
            if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found
