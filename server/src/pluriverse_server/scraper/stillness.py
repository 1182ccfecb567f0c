"""Whether processes stand still: all of their threads wait for others, and none has run meanwhile."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# On a CPU, waiting for one, or for the kernel, as for a part of the program that is still on the disk. Such a thread
# goes on by itself.
_RUNNING: Final = b"RD"

# What is read of a thread's files: its number, its name of at most 15 bytes and its state; its times.
_READ_BYTES: Final = 64


class Stillness:
    """Looks at the threads of processes, through descriptors that stay open. ``close`` gives them back."""

    def __init__(self, pids: Sequence[int]) -> None:
        # How many links each has: one for each of its threads, and two.
        self._links: dict[str, int] = {}
        self._threads: dict[str, tuple[int, int]] = {}
        self._runner = ""  # the thread that was last seen to run, which often runs still
        self.watch(pids)

    def watch(self, pids: Sequence[int]) -> None:
        """Look at these processes, without their children, and at no others."""
        self._links = {folder: self._links.get(folder, 0) for folder in (f"/proc/{pid}/task" for pid in pids)}
        for thread in [each for each in self._threads if each.rpartition("/")[0] not in self._links]:
            self._forget(thread)

    def look(self) -> bytes | None:
        """Return how long the threads have run, all together as a text; None if one is seen to run."""
        if self._runs(self._runner):
            return None
        self._follow()
        times: list[bytes] = []
        for thread, (_, schedule) in self._threads.items():
            try:
                times.append(os.pread(schedule, _READ_BYTES, 0))
            except OSError:
                self._ended(thread)
        return b"".join(times)

    def stood(self, since: bytes) -> bool:
        """Return whether no thread runs, or is about to, nor has one run after the look that gave ``since``."""
        for thread in self._threads:
            if self._runs(thread):
                self._runner = thread
                return False
        # One that was woken meanwhile was so by another, which has run, or isn't ours.
        return self.look() == since

    def close(self) -> None:
        self.watch(())

    def _runs(self, thread: str) -> bool:
        if thread not in self._threads:
            return False
        try:
            line = os.pread(self._threads[thread][0], _READ_BYTES, 0)
        except OSError:
            self._ended(thread)
            return False
        # The name is in parentheses and may hold any of them.
        return line[line.rindex(b")") + 2] in _RUNNING

    def _ended(self, thread: str) -> None:
        # Another may have begun in its place.
        self._links[thread.rpartition("/")[0]] = 0

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
                state = os.open(f"{thread}/stat", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    self._threads[thread] = state, os.open(f"{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
                except OSError:
                    os.close(state)

    def _forget(self, thread: str) -> None:
        for file in self._threads.pop(thread):
            os.close(file)


def process_tree(root: int) -> list[int]:
    pids = [root]
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    pids += map(int, (task / "children").read_bytes().split())
    return pids


def descendants(root: int, word: str) -> list[int]:
    """Return the descendants of a process that have a word on their command line."""
    found: list[int] = []
    for pid in process_tree(root)[1:]:
        with contextlib.suppress(OSError):
            if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found
