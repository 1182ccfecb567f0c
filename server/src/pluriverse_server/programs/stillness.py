"""Whether processes stand still: all of their threads wait, and none has run meanwhile."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_RUNNING: Final = ord("R")

# What is read of a thread's files: its number, its name of at most 15 bytes and its state; its times.
_READ_BYTES: Final = 64


class Stillness:
    """Looks at the threads of processes, through descriptors that stay open. ``close`` gives them back."""

    def __init__(self, pids: Sequence[int]) -> None:
        """``pids``: the processes, without their children."""
        self._folders = [f"/proc/{pid}/task" for pid in pids]
        self._threads: dict[str, tuple[int, int]] = {}

    def look(self) -> bytes | None:
        """Return how long the threads have run, all together as a text; None if one runs or waits for a CPU."""
        self._follow()
        times: list[bytes] = []
        for state, schedule in self._threads.values():
            try:
                line = os.pread(state, _READ_BYTES, 0)
                # The name is in parentheses and may hold any of them.
                if line[line.rindex(b")") + 2] == _RUNNING:
                    return None
                times.append(os.pread(schedule, _READ_BYTES, 0))
            except OSError:
                # It has ended since.
                continue
        return b"".join(times)

    def close(self) -> None:
        """Look no more. May be called repeatedly."""
        for thread in list(self._threads):
            self._forget(thread)

    def _follow(self) -> None:
        """Open the files of threads that are new, and close those of threads that have ended."""
        found: set[str] = set()
        for folder in self._folders:
            with contextlib.suppress(OSError):
                found.update(f"{folder}/{name}" for name in os.listdir(folder))  # noqa: PTH208 - each look does this
        for thread in self._threads.keys() - found:
            self._forget(thread)
        for thread in found - self._threads.keys():
            with contextlib.suppress(OSError):
                state = os.open(f"{thread}/stat", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    self._threads[thread] = state, os.open(f"{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
                except OSError:
                    os.close(state)

    def _forget(self, thread: str) -> None:
        for file in self._threads.pop(thread):
            os.close(file)


def process_tree(root: int) -> list[int]:
    """Return the process ``root`` and its descendants."""
    pids = [root]
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    pids += map(int, (task / "children").read_bytes().split())
    return pids


def descendants(word: str) -> list[int]:
    """Return the descendants of this process that have a word on their command line."""
    found: list[int] = []
    for pid in process_tree(os.getpid())[1:]:
        with contextlib.suppress(OSError):
            if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found
