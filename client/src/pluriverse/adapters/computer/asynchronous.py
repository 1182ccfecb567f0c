"""A computer for asyncio: many act at once."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from pluriverse.errors import Closed
from pluriverse.forks import Owner

from .computer import Computer

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    method: Callable[Concatenate[Computer, P], T],
) -> Callable[Concatenate[AsyncComputer, P], Coroutine[Any, Any, T]]:
    @functools.wraps(method)
    async def call(self: AsyncComputer, *args: P.args, **named: P.kwargs) -> T:
        return await self._do(lambda computer: method(computer, *args, **named))  # pyright: ignore[reportPrivateUsage]

    return call


class AsyncComputer:
    """A ``Computer`` whose calls are awaited, one after the other in a thread of its own.

    A task that is cancelled breaks off what its call does. ``computer`` is there within ``async with``; what it knows
    without a call, such as ``text`` and ``over``, is asked of it.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        """``args`` and ``options`` are those of ``Computer``, which is made by ``async with``."""
        self._make = functools.partial(Computer, *args, **options)
        self._made: Computer | None = None
        self._owner = Owner("this computer")
        self._thread = ThreadPoolExecutor(1, "computer")

    @property
    def computer(self) -> Computer:
        """The computer, between two calls."""
        if self._made is None:
            raise Closed("this computer isn't open; use it within async with")
        return self._made

    begin = _awaited(Computer.begin)
    do = _awaited(Computer.do)
    submit = _awaited(Computer.submit)
    do_all = _awaited(Computer.do_all)
    act_for = _awaited(Computer.act_for)
    act = _awaited(Computer.act)
    send = _awaited(Computer.send)
    look = _awaited(Computer.look)
    tree = _awaited(Computer.tree)
    status = _awaited(Computer.status)

    async def __aenter__(self) -> Self:
        self._made = await self._run(self._make)
        return self

    async def __aexit__(self, *_: object) -> None:
        computer, self._made = self.computer, None
        await self._run(computer.close)
        self._thread.shutdown(wait=False)

    async def _do(self, call: Callable[[Computer], T]) -> T:
        computer, given_up = self.computer, threading.Event()

        def do() -> T:
            computer.given_up = given_up
            try:
                return call(computer)
            finally:
                computer.given_up = None

        try:
            return await self._run(do)
        finally:
            given_up.set()

    async def _run(self, call: Callable[[], T]) -> T:
        # A forked child has none of its threads.
        self._owner.require()
        return await asyncio.wrap_future(self._thread.submit(call))
