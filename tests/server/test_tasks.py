"""Tasks and timers that fail while nobody waits for them."""

import asyncio
import gc

import pytest
from pluriverse_server.tasks import TaskFailed, call_later, first_failure, start_task


async def fail() -> None:
    raise ValueError("wrong")


async def test_failed_task_is_told_and_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    failure = first_failure()
    start_task(fail(), "toy")
    assert isinstance(failed := await failure, TaskFailed)
    assert str(failed) == "the task 'toy' failed: ValueError: wrong"
    assert 'raise ValueError("wrong")' in caplog.text


async def test_failure_of_what_a_task_has_started_is_told_to_whoever_started_that() -> None:
    async def start() -> None:
        start_task(fail(), "inner")
        call_later(0, "timer", lambda: None)

    failure = first_failure()
    await start_task(start(), "outer")
    assert "'inner'" in str(await failure)


async def test_failed_task_of_one_connection_ends_that_alone(caplog: pytest.LogCaptureFixture) -> None:
    failure = first_failure()
    ended = asyncio.Event()
    start_task(fail(), "sender", ended.set)
    await ended.wait()
    assert 'raise ValueError("wrong")' in caplog.text
    assert not failure.done()


async def test_task_that_nobody_else_keeps_goes_on() -> None:
    cut_off = False

    async def wait() -> None:
        nonlocal cut_off
        try:
            await asyncio.get_running_loop().create_future()
        except GeneratorExit:
            cut_off = True
            raise

    start_task(wait(), "waiting")
    await asyncio.sleep(0)
    gc.collect()
    assert not cut_off


async def test_failed_timer_is_told() -> None:
    failure = first_failure()
    call_later(0, "timer", int, "none")
    assert "the task 'timer' failed: ValueError" in str(await failure)


async def test_tasks_that_return_or_are_cancelled_are_no_failure() -> None:
    failure = first_failure()
    assert await start_task(asyncio.sleep(0, "done"), "returns") == "done"
    cancelled = start_task(asyncio.sleep(600), "cancelled")
    cancelled.cancel()
    await asyncio.wait({cancelled})
    call_later(0, "cancelled", fail).cancel()
    await asyncio.sleep(0)
    assert not failure.done()
