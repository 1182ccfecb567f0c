import asyncio
import threading

import pytest
from pluriverse_server.vnc_proxy.loop_thread import LoopThread


async def name_of_thread() -> str:
    return threading.current_thread().name


async def fail() -> None:
    raise ValueError("wrong")


async def test_work_is_done_in_the_thread_and_its_errors_come_back() -> None:
    thread = LoopThread("elsewhere")
    try:
        assert await thread.run(name_of_thread()) == "elsewhere"
        with pytest.raises(ValueError, match="wrong"):
            await thread.run(fail())
    finally:
        await thread.stop()


async def test_stop_cancels_what_is_left_and_ends_the_thread() -> None:
    thread = LoopThread("to be stopped")
    cancelled = threading.Event()

    async def linger() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            cancelled.set()

    async def begin() -> asyncio.Task[None]:
        return asyncio.create_task(linger())

    task = await thread.run(begin())
    await thread.run(asyncio.sleep(0))
    await thread.stop()
    assert task.cancelled()
    assert cancelled.is_set()
    assert "to be stopped" not in {each.name for each in threading.enumerate()}
