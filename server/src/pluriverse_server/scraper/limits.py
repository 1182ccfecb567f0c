"""What a program may take: its limits, and the CPU priority of those that aren't shown yet."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import psutil

from pluriverse_server.manifest.game import LimitsTable

from .stillness import process_tree
from .tree import PROC, descendants

# How often the program's use of memory, files and processes is measured.
LOOK_S: Final = 1.0

MIB: Final = 1024 * 1024

# Measuring takes time for each file, however small.
MAX_FILES: Final = 50_000


class Limits:
    """One program's limits. ``exceeded`` blocks for some milliseconds; call it in a thread."""

    def __init__(
        self,
        table: LimitsTable,
        processes: Callable[[], list[int]],
        home: Path,
        printed_bytes: Callable[[], int] = lambda: 0,
    ) -> None:
        """``processes`` are the program's."""
        self._table = table
        self._processes = processes
        self._home = home
        self._printed_bytes = printed_bytes

    def exceeded(self) -> str | None:
        table = self._table
        pids = self._processes()
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


def below(keeper: int) -> list[int]:
    """Return all processes below one."""
    # Kernels mostly list each process' children, which is far cheaper than to look at all of the machine's.
    return process_tree(keeper)[1:] or descendants(keeper)


def watch(
    limits: Limits, stopped: threading.Event, program: Callable[[], int], on_exceeded: Callable[[str, int], object]
) -> None:
    """Look at a program until it is ``stopped``; say when it exceeds its limits, and as which process it was found."""

    def look() -> None:
        while not stopped.wait(LOOK_S):
            looked_at = program()
            if (reason := limits.exceeded()) is not None:
                on_exceeded(reason, looked_at)

    # Started now: once a program forks without end, there may be no room for another thread.
    threading.Thread(target=look, name="limits", daemon=True).start()


def _takes_more_than(limit: int, pids: list[int]) -> bool:
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


# Half of the way down: next to a program that is played it gets a tenth of a core, alone all of it.
BACKGROUND_NICE: Final = 10


@cache
def can_raise_priority() -> bool:
    """Return whether niceness can be lowered again, which a container without capabilities mostly can't."""
    answers: list[bool] = []

    def try_it() -> None:
        # On Linux each thread has a niceness of its own, and this one ends with it.
        me = threading.get_native_id()
        before = os.getpriority(os.PRIO_PROCESS, me)
        try:
            os.setpriority(os.PRIO_PROCESS, me, before + 1)
            os.setpriority(os.PRIO_PROCESS, me, before)
        except PermissionError:
            answers.append(False)
        else:
            answers.append(True)

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    return answers[0]


def raise_priority(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in Path(PROC, str(pid), "task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(task.name), 0)
