import asyncio
import threading

from pluriverse.rewarder.loop import BackgroundLoop

DEADLINE_S = 60.0


def test_coroutines_run_on_one_thread_and_blocking_calls_beside_it() -> None:
    loop = BackgroundLoop("test loop", workers=2)

    async def names() -> tuple[str, str]:
        return threading.current_thread().name, await loop.in_thread(lambda: threading.current_thread().name)

    here, beside = loop.submit(names()).result(DEADLINE_S)
    assert here == "test loop"
    assert beside.startswith("test loop: worker")
    loop.close()


def test_closing_cancels_what_runs_and_leaves_no_thread() -> None:
    loop = BackgroundLoop("test loop", workers=1)
    cancelled, blocked = threading.Event(), threading.Event()

    async def for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def block() -> None:
        await loop.in_thread(lambda: blocked.wait(DEADLINE_S))

    loop.submit(for_ever())
    loop.submit(block())
    loop.submit(asyncio.sleep(0)).result(DEADLINE_S)
    threading.Timer(0.05, blocked.set).start()
    loop.close()
    loop.close()
    assert cancelled.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test loop")]
