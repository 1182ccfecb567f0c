"""One thread with one asyncio loop for all sockets of an environment."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

# Each cancelled task closes a WebSocket, with a deadline of its own far below this.
CLOSE_TIMEOUT_S: Final = 30.0

_T = TypeVar("_T")


class BackgroundLoop:
    """A loop that runs until ``close``, which ends every task and joins every thread."""

    def __init__(self, name: str, *, workers: int) -> None:
        """Start the thread. ``workers`` is how many blocking calls may run at once."""
        self._loop = asyncio.new_event_loop()
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix=f"{name}: worker")
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._closed = False
        self._thread.start()

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> concurrent.futures.Future[_T]:
        """Run a coroutine on the loop; from any other thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def in_thread(self, function: Callable[[], _T]) -> _T:
        """Run a blocking call in a worker thread, and wait for it; on the loop."""
        return await self._loop.run_in_executor(self._workers, function)

    def close(self) -> None:
        """Cancel all tasks, wait for them, and end the threads; may be called repeatedly."""
        if self._closed:
            return
        self._closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_TIMEOUT_S)
        # Not loop.shutdown_default_executor, which starts a thread: that fails while Python exits.
        self._workers.shutdown(cancel_futures=True)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            # An aborted transport closes its socket in the loop's next round.
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()
