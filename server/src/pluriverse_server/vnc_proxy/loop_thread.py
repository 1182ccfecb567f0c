"""An event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from pluriverse_server.event_loop import SteadyLoop

_T = TypeVar("_T")


class LoopThread:
    """An event loop that runs from the start until ``stop``."""

    def __init__(self, name: str) -> None:
        self._loop = SteadyLoop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def call(self, callback: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(callback)

    async def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()
