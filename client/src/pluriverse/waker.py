"""Wakes an agent that waits: at a new frame of any screen, a message of any rewarder, a broken connection.

One bell serves the whole process. A producer rings it when it has something new; a waiting thread checks again at each
ring.
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
    """A bell for systems without eventfd; nor have they the native driver, which rings the other one."""

    fd: Final = -1

    def __init__(self) -> None:
        self._rung = threading.Condition()

    def ring(self) -> None:
        """Wake everybody who waits."""
        with self._rung:
            self._rung.notify_all()

    def wait_for(self, condition: Callable[[], T], timeout_s: float) -> T:
        """Wait until ``condition`` holds, looking at each ring, for ``timeout_s`` at most; return what it said last."""
        with self._rung:
            return self._rung.wait_for(condition, timeout_s)


class EventWaker:
    """A bell of Linux: an eventfd that is written at each ring and never read.

    Each waiting thread has an epoll of its own, to which a write is an edge: a ring between a look and a wait isn't
    missed, native threads ring without the GIL by writing to ``fd``, and signals interrupt a wait at once.
    """

    def __init__(self) -> None:
        self.fd: int = _eventfd()
        self._waiting = threading.local()
        self._rings()  # a program's main thread opens no descriptor later than this
        # A child that waited at its parent's epoll would take rings from the parent.
        os.register_at_fork(after_in_child=self._renew)

    def ring(self) -> None:
        """Wake everybody who waits."""
        os.eventfd_write(self.fd, 1)

    def wait_for(self, condition: Callable[[], T], timeout_s: float) -> T:
        """Wait until ``condition`` holds, looking at each ring, for ``timeout_s`` at most; return what it said last."""
        try:
            rings = self._waiting.rings
        except AttributeError:
            rings = self._rings()
        deadline = time.monotonic() + timeout_s
        while True:
            rings.poll(0)  # forget the rings so far, before looking at what they were for
            said = condition()
            if said:
                return said
            left = deadline - time.monotonic()
            if left <= 0:
                return said
            if rings.fileno() < FD_SETSIZE:
                select.select([rings], [], [], left)
            else:
                rings.poll(left)  # in whole milliseconds

    def _rings(self) -> select.epoll:
        self._waiting.rings = rings = select.epoll()
        rings.register(self.fd, select.EPOLLIN | select.EPOLLET)
        return rings

    def _renew(self) -> None:
        os.close(self.fd)
        self.fd = _eventfd()
        self._waiting = threading.local()


def _eventfd() -> int:
    return os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)


WAKER: Final = EventWaker() if sys.platform == "linux" else ConditionWaker()
