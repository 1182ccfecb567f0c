"""What becomes of connections in a child that this process forks: they work for the parent alone.

Both would write to the same sockets and wait for the same answers, and the child has none of the threads that read.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from typing import Final, Protocol, TypeVar

from .errors import Misuse


class HasDescriptor(Protocol):
    def fileno(self) -> int: ...


T = TypeVar("T", bound=HasDescriptor)

_kept: Final = weakref.WeakSet[HasDescriptor]()
_owners: Final = weakref.WeakSet["Owner"]()


def keep(held: T) -> T:
    """Keep a socket or file from forked children: what they write to their copies goes nowhere. Return it.

    A child may live longer; without its copy, hanging up in the parent is heard at the other end.
    """
    _kept.add(held)
    return held


class Owner:
    """The process that made this, and what goes with it; a forked child has only a copy."""

    __slots__ = ("__weakref__", "_pid", "_what", "is_here")

    def __init__(self, what: str) -> None:
        self.is_here: bool = True
        self._pid = os.getpid()
        self._what = what
        _owners.add(self)

    def require(self) -> None:
        """Raise ``Misuse`` in any other process."""
        if not self.is_here:
            raise Misuse(
                f"{self._what} belongs to process {self._pid}, of which this one is a fork, and connections can't be "
                "shared; make another one in the process that uses it: with multiprocessing in the function that the "
                "child runs, as the start methods spawn and forkserver need it anyway"
            )


def _begin_child() -> None:
    for owner in _owners:
        owner.is_here = False
    _owners.clear()
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for held in _kept:
        with contextlib.suppress(OSError, ValueError):  # it is closed
            if (descriptor := held.fileno()) >= 0:
                os.dup2(nowhere, descriptor, inheritable=False)
    os.close(nowhere)
    _kept.clear()


os.register_at_fork(after_in_child=_begin_child)
