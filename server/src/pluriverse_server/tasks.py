"""Background tasks and timers: one that fails is logged, and ends what has started it, or its connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Final, TypeVar, TypeVarTuple

log = logging.getLogger(__name__)

_T = TypeVar("_T")
_Arguments = TypeVarTuple("_Arguments")


class TaskFailed(Exception):
    """A task or timer failed because of a bug; the message names it, the log has the traceback."""


# Tasks and timers inherit it from whatever starts them.
_failure: Final = ContextVar[asyncio.Future[TaskFailed]]("failure")

# The event loop itself doesn't keep those that wait for something.
_running: Final = set[asyncio.Task[Any]]()


def first_failure() -> asyncio.Future[TaskFailed]:
    """Return a future for the first failure of all that is started from here on, by this task and by what it starts."""
    failure = asyncio.get_running_loop().create_future()
    _failure.set(failure)
    return failure


def start_task(
    work: Coroutine[Any, Any, _T], name: str, on_failure: Callable[[], object] | None = None
) -> asyncio.Task[_T]:
    """Start a task that may only end by returning, or by being cancelled.

    ``on_failure`` is called instead of ending what has started it: one connection's failure isn't everybody's.
    """
    task = asyncio.create_task(work, name=name)
    _running.add(task)
    task.add_done_callback(_running.discard)
    task.add_done_callback(lambda task: _ended(task, on_failure))
    return task


async def in_thread(work: Callable[[], _T]) -> _T:
    """Do ``work`` in a thread; if that is cancelled, wait for its end nevertheless."""
    doing = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise


def call_later(
    delay_s: float, name: str, callback: Callable[[*_Arguments], object], *args: *_Arguments
) -> asyncio.TimerHandle:
    def call() -> None:
        try:
            callback(*args)
        except Exception as error:  # noqa: BLE001 - it ends the remote
            fail(name, error)

    return asyncio.get_running_loop().call_later(delay_s, call)


def fail(name: str, error: BaseException) -> None:
    """Log that the task or timer of this name failed, and end what has started it."""
    _log(name, error)
    failure = _failure.get(None)
    if failure is not None and not failure.done():
        failure.set_result(TaskFailed(f"the task {name!r} failed: {type(error).__name__}: {error}"))


def _ended(task: asyncio.Task[Any], on_failure: Callable[[], object] | None) -> None:
    if task.cancelled() or (error := task.exception()) is None:
        return
    if on_failure is None:
        fail(task.get_name(), error)
    else:
        _log(task.get_name(), error)
        on_failure()


def _log(name: str, error: BaseException) -> None:
    log.critical("the task %r failed", name, exc_info=error)
