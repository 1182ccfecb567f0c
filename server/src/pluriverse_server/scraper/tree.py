"""The descendants of a process, from /proc, and how to end them all.

Imports next to nothing, because each program's ``keeper`` uses it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")

# <sys/prctl.h>
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36

_PART_BYTES: Final = 65536

# Where /proc/PID/stat has the number of threads, counted from the state.
_THREADS: Final = 17

# Between two looks at processes that die; the kernel needs about as long for each.
_LOOK_S: Final = 0.002

# What forks faster than this many looks find is killed unstopped, and looked for again.
_STOPPING_ROUNDS: Final = 50


def told(path: str) -> bytes:
    """Return what is in a file of /proc, in a third of the time that Python's own files take."""
    file = os.open(path, os.O_RDONLY)
    try:
        parts: list[bytes] = []
        while part := os.read(file, _PART_BYTES):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(file)


def children(pid: int) -> list[int]:
    """Return the children of a process, also dead ones; none where the kernel lists none."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"{PROC}/{pid}/task"):  # noqa: PTH208 - each snapshot does this
            with contextlib.suppress(OSError):
                listed = told(path := f"{PROC}/{pid}/task/{task}/children").split()
                # When one that it has just listed is reaped, the kernel leaves out others.
                while listed and not set(listed) <= set(again := told(path).split()):
                    listed = again
                found += map(int, listed)
    return found


def adopt_orphans() -> None:
    """Make what this process' descendants leave behind its children, from now on."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def shut_out() -> None:
    """Let no process of the same user look into this one, which may have a network that the other hasn't."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def die_with(parent: int) -> None:
    """Have SIGTERM sent to this process when its ``parent`` ends; at once if it already has."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def descendants(root: int) -> list[int]:
    """Return the living processes below ``root``, parents before their children."""
    below: dict[int, list[int]] = {}
    with os.scandir(PROC) as entries:
        for entry in entries:
            if not entry.name.isdigit():
                continue
            try:
                stat = Path(entry.path, "stat").read_bytes()
            except OSError:
                continue
            # The name stands in parentheses and may have any in it; after the last one come state and parent.
            fields = stat[stat.rindex(b")") + 2 :].split()
            # One whose main thread has ended is a zombie by its state, and lives on in its other threads.
            if fields[0] != b"X" and (fields[0] != b"Z" or int(fields[_THREADS]) > 1):
                below.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    wanted = [root]
    while wanted:
        next_ones = below.get(wanted.pop(), [])
        found += next_ones
        wanted += next_ones
    return found


def signal_all(pids: list[int], signum: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, signum)
        except (ProcessLookupError, PermissionError):
            continue


def kill_below(root: int, deadline_s: float) -> bool:
    """Kill everything below ``root``; returns whether nothing is left within ``deadline_s`` seconds.

    This process' dead children are reaped. Orphans must stay below ``root`` (``adopt_orphans``).
    """
    deadline = time.monotonic() + deadline_s
    while pids := descendants(root):
        _stop_all(root)
        signal_all(descendants(root) or pids, signal.SIGKILL)
        reap()
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_S)
    reap()
    return True


def reap() -> dict[int, int]:
    """Reap this process' children that have ended: their exit codes (negative: the signal) by id."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = os.waitstatus_to_exitcode(status)


def _stop_all(root: int) -> None:
    """SIGSTOP until nothing new turns up: what stands still can't fork while the others are killed."""
    stopped: set[int] = set()
    for _ in range(_STOPPING_ROUNDS):
        new = [pid for pid in descendants(root) if pid not in stopped]
        if not new:
            return
        signal_all(new, signal.SIGSTOP)
        stopped.update(new)
