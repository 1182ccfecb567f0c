"""The CPU priority of programs that aren't shown yet."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from .tree import PROC

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
    """Give processes, with all of their threads, the ordinary priority."""
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in Path(PROC, str(pid), "task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(task.name), 0)
