"""Checks what a program uses against its limits."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import psutil

from pluriverse_server.manifest.game import LimitsTable

from .tree import descendants

MIB: Final = 1024 * 1024

# Measuring takes time for each file, however small.
MAX_FILES: Final = 50_000


class Limits:
    """One program's limits. ``exceeded`` blocks for some milliseconds; call it in a thread."""

    def __init__(self, table: LimitsTable, keeper: int, home: Path, printed_bytes: Callable[[], int]) -> None:
        """``keeper`` is the ancestor of all of the program's processes."""
        self._table = table
        self._keeper = keeper
        self._home = home
        self._printed_bytes = printed_bytes

    def exceeded(self) -> str | None:
        """Return which limit was exceeded, in words; None if none was."""
        table = self._table
        pids = descendants(self._keeper)
        if len(pids) > table.processes:
            return f"the program started more than {table.processes} processes"
        if self._printed_bytes() > table.output_mib * MIB:
            return f"the program printed more than {table.output_mib} MiB"
        if _takes_more_than(table.memory_mib * MIB, pids):
            return f"the program took more than {table.memory_mib} MiB of memory"
        return self._too_much_in_home()

    def _too_much_in_home(self) -> str | None:
        size = 0
        for count, file_bytes in enumerate(_sizes(self._home)):
            size += file_bytes
            if size > self._table.home_mib * MIB:
                return f"the program wrote more than {self._table.home_mib} MiB into its HOME"
            if count >= MAX_FILES:
                return f"the program wrote more than {MAX_FILES} files into its HOME"
        return None


def _takes_more_than(limit: int, pids: list[int]) -> bool:
    """Return whether the processes use more than ``limit`` bytes; shared memory counts once."""
    # Resident sizes are quick, but count shared memory several times: only if they are over, the slow count is needed.
    if sum(_memory(pid, lambda process: process.memory_info().rss) for pid in pids) <= limit:
        return False
    return sum(_memory(pid, _share) for pid in pids) > limit


def _share(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.AccessDenied:
        # Without permission to look closer, shared memory counts as its own.
        return process.memory_info().rss


def _memory(pid: int, ask: Callable[[psutil.Process], int]) -> int:
    try:
        return ask(psutil.Process(pid))
    except psutil.Error:
        return 0


def _sizes(home: Path) -> Iterator[int]:
    """Yield the disk space of each file and folder below, in bytes. The program may change them meanwhile."""
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):
                yield os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118 - a Path for each is slow
