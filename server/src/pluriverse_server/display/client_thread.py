"""Clients of an X server on a thread of their own: a frozen server costs a call its deadline, never the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Generic, Protocol, TypeVar

from pluriverse_server.x11.connection import DisplayLost

from .xserver import START_DEADLINE_S

# X answers within a millisecond, or in seconds on a busy machine. A server silent for this long is frozen.
ANSWER_DEADLINE_S: Final = 5.0


class Client(Protocol):
    """A client whose calls block for as long as its X server is frozen."""

    def abort(self) -> None:
        """Cut the connection: what is blocked in it, on another thread, raises DisplayLost."""
        ...

    def close(self) -> None:
        """Hang up. May be called again, and when the X server is gone."""
        ...


_C = TypeVar("_C", bound=Client)
_T = TypeVar("_T")


class ClientThread(Generic[_C]):
    """A client and the only thread that uses it; calls are done in their order. Made by ``open_in_thread``."""

    def __init__(self, name: str, client: _C, executor: ThreadPoolExecutor, deadline_s: float) -> None:
        self.client = client
        self._name = name
        self._executor = executor
        self._deadline_s = deadline_s
        self._closed = False

    async def run(self, work: Callable[[_C], _T], deadline_s: float | None = None) -> _T:
        if self._closed:
            raise DisplayLost(f"the {self._name} was closed")
        deadline_s = self._deadline_s if deadline_s is None else deadline_s
        try:
            async with asyncio.timeout(deadline_s):
                return await asyncio.get_running_loop().run_in_executor(self._executor, work, self.client)
        except TimeoutError:
            self.client.abort()
            raise DisplayLost(f"the X server has not answered the {self._name} for {deadline_s:g} s") from None

    async def close(self) -> None:
        """Close the client, and end the thread. May be called again, and when the X server is gone."""
        if self._closed:
            return
        self._closed = True
        # Its turn comes also where what is before it has to be cut off.
        closing = asyncio.get_running_loop().run_in_executor(self._executor, self.client.close)
        self._executor.shutdown(wait=False)
        try:
            async with asyncio.timeout(self._deadline_s):
                await asyncio.shield(closing)
        except TimeoutError:
            self.client.abort()


async def open_in_thread(
    name: str,
    make: Callable[[], _C],
    display: str,
    *,
    deadline_s: float = ANSWER_DEADLINE_S,
    open_s: float = START_DEADLINE_S,
) -> ClientThread[_C]:
    """``make`` a client of ``display`` within ``open_s`` seconds; every later call has ``deadline_s``.

    To open one takes some twenty answers, of a server that may just have begun.
    """
    executor = ThreadPoolExecutor(1, thread_name_prefix=name)
    making = asyncio.get_running_loop().run_in_executor(executor, make)
    try:
        async with asyncio.timeout(open_s):
            client = await asyncio.shield(making)
    except BaseException as problem:
        # The thread ends with the frozen server; a connection that is made after all is closed.
        making.add_done_callback(_close_late)
        executor.shutdown(wait=False)
        if isinstance(problem, TimeoutError):
            raise DisplayLost(f"the X server at {display} has not answered for {open_s:g} s") from None
        raise
    return ClientThread(name, client, executor, deadline_s)


def _close_late(making: asyncio.Future[_C]) -> None:
    if not making.cancelled() and making.exception() is None:
        making.result().close()
