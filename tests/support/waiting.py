"""Waiting for what has no event of its own: by looking, often, and with a deadline."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

DEADLINE_S = 60.0
LOOK_S = 0.005

_T = TypeVar("_T")


async def eventually(condition: Callable[[], object], deadline_s: float = DEADLINE_S) -> None:
    """Return once ``condition`` holds."""
    async with asyncio.timeout(deadline_s):
        while not condition():  # noqa: ASYNC110 - what is looked at belongs to another process or library
            await asyncio.sleep(LOOK_S)


def until(look: Callable[[], _T], wanted: Callable[[_T], object] = bool, deadline_s: float = DEADLINE_S) -> _T:
    """What ``look`` sees once it is what is ``wanted``; both are called from this thread."""
    deadline = time.monotonic() + deadline_s
    while not wanted(seen := look()):
        assert time.monotonic() < deadline, f"in the end it was {seen!r}"
        time.sleep(LOOK_S)
    return seen


async def assert_cancelled_after(turns: int, task: asyncio.Task[Any]) -> None:
    """Cancel ``task`` so many turns of the loop from now: then it is cancelled, unless it was done before."""
    for _ in range(turns):
        await asyncio.sleep(0)
    was_done = task.done()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled() != was_done
