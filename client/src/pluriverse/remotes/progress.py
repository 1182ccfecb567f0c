"""What a person is shown who waits for more than two seconds: a line on standard error.

It is shown in terminals and notebooks; not where a program's output goes elsewhere, in pytest, or where the logger
``pluriverse`` lets only errors through.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Final, TypeVar

from .manager import Progress

T = TypeVar("T")

# Shorter waits need no message.
SILENT_S: Final = 2.0

# How often a terminal's line, which has the seconds so far, is written again.
AGAIN_S: Final = 0.5

# To the line's beginning, and nothing after it.
ERASE: Final = "\r\x1b[K"


@contextlib.contextmanager
def waiting(what: str) -> Generator[Callable[[str], None]]:
    """Show a progress message within this; yield the function that changes it."""
    if not _is_shown():
        yield lambda _: None
        return
    said, ended = [what], threading.Event()
    thread = threading.Thread(target=_show, args=(said, ended), name="pluriverse: progress", daemon=True)
    thread.start()
    try:
        yield said.append
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def starting(n: int, what: str) -> Generator[Progress]:
    """Show the start of ``n`` remotes; yield the function that reports progress."""
    ready: set[int] = set()
    with waiting(f"starting {what}") as say:

        def report(index: int, doing: str) -> None:
            if doing.startswith(("ready", "attached")):
                ready.add(index)
            say(f"starting {what}: {len(ready)} of {n} ready; remote {index}: {doing}")

        yield report


def each(items: Iterable[T], what: str) -> Iterator[T]:
    """Yield the items; show that the next one is waited for."""
    iterator = iter(items)
    with contextlib.suppress(StopIteration):
        while True:
            with waiting(what):
                item = next(iterator)
            yield item


def _is_shown() -> bool:
    if "PYTEST_CURRENT_TEST" in os.environ or logging.getLogger("pluriverse").getEffectiveLevel() > logging.WARNING:
        return False
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _show(said: list[str], ended: threading.Event) -> None:
    """Show the last message: in a terminal on a line that is erased in the end, in a notebook on one that stays."""
    began = time.monotonic()
    if ended.wait(SILENT_S):
        return
    if not sys.stderr.isatty():
        print(f"pluriverse: {said[-1]} …", file=sys.stderr, flush=True)
        return
    while not ended.wait(AGAIN_S):
        line = f"{time.monotonic() - began:3.0f} s  {said[-1]}"
        print(f"{ERASE}{line[: shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)
    print(ERASE, end="", file=sys.stderr, flush=True)
