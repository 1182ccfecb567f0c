"""Wakes an agent that waits: at a new frame of any screen, a message of any rewarder, a broken connection.

One serves the whole process. A producer wakes it when it has something new; a waiting thread then checks again.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

# select() takes smaller descriptors only.
FD_SETSIZE: Final = 1024

T = TypeVar("T")


class ConditionWaker:
    """For systems without eventfd; nor have they the native driver, which wakes the other one."""

    fd: Final = -1

    def __init__(self) -> None:
        self._woken = threading.Condition()

    def wake(self) -> None:
        """Wake everybody who waits."""
        with self._woken:
            self._woken.notify_all()

    def wait_for(self, condition: Callable[[], T], timeout_s: float) -> T:
        """Wait until ``condition`` holds, looking at each wake, for ``timeout_s`` at most; return its last result."""
        with self._woken:
            return self._woken.wait_for(condition, timeout_s)


class EventWaker:
    """For Linux: an eventfd that is written at each wake and never read.

    Each waiting thread has an epoll of its own, to which a write is an edge: a wake between a look and a wait isn't
    missed, native threads wake without the GIL by writing to ``fd``, and signals interrupt a wait at once.
    """

    def __init__(self) -> None:
        self.fd: int = _eventfd()
        self._waiting = threading.local()
        self._wakes()  # a program's main thread opens no descriptor later than this
        # A child that waited at its parent's epoll would take wakes from the parent.
        os.register_at_fork(after_in_child=self._renew)

    def wake(self) -> None:
        """Wake everybody who waits."""
        os.eventfd_write(self.fd, 1)

    def wait_for(self, condition: Callable[[], T], timeout_s: float) -> T:
        """Wait until ``condition`` holds, looking at each wake, for ``timeout_s`` at most; return its last result."""
        try:
            wakes = self._waiting.wakes
        except AttributeError:
            wakes = self._wakes()
        deadline = time.monotonic() + timeout_s
        while True:
            wakes.poll(0)  # forget the wakes so far, before looking at what they were for
            said = condition()
            if said:
                return said
            left = deadline - time.monotonic()
            if left <= 0:
                return said
            if wakes.fileno() < FD_SETSIZE:
                select.select([wakes], [], [], left)
            else:
                wakes.poll(left)  # in whole milliseconds

    def _wakes(self) -> select.epoll:
        self._waiting.wakes = wakes = select.epoll()
        wakes.register(self.fd, select.EPOLLIN | select.EPOLLET)
        return wakes

    def _renew(self) -> None:
        os.close(self.fd)
        self.fd = _eventfd()
        self._waiting = threading.local()


def _eventfd() -> int:
    return os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)


WAKER: Final = EventWaker() if sys.platform == "linux" else ConditionWaker()
