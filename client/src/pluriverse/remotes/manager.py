"""What starts, finds and replaces remotes, as the environment sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from .address import Address

# Called with an index and what is going on with its remote, in a few words.
Progress = Callable[[int, str], None]


class RemoteManager(Protocol):
    """A fixed number of remotes. All calls block; ``replace`` may be called from several threads, for other indices."""

    @property
    def n(self) -> int:
        """How many remotes there are."""
        ...

    def start(self, progress: Progress) -> Sequence[Address]:
        """Start all, and wait until each is ready to be connected to.

        Raises:
            RemoteUnavailable: one could not be started; those that were are gone again.
        """
        ...

    def replace(self, index: int) -> Address:
        """Where to find the remote of ``index`` after its connections broke; another one is started if it is dead.

        Raises:
            RemoteUnavailable: it could not be started.
        """
        ...

    def close(self) -> None:
        """Remove all that ``start`` and ``replace`` started; may be called at any time, repeatedly, from any thread."""
        ...


def start_side_by_side(
    manager: RemoteManager, start_one: Callable[[int], Address], what: str, progress: Progress
) -> list[Address]:
    """Start all of a manager's remotes at once, which is ``what`` in words; closes it if one can't be."""

    def start(index: int) -> Address:
        progress(index, what)
        address = start_one(index)
        progress(index, f"ready at {address}")
        return address

    try:
        with ThreadPoolExecutor(manager.n, thread_name_prefix="pluriverse: start") as pool:
            return list(pool.map(start, range(manager.n)))
    except BaseException:
        manager.close()
        raise


def no_progress(index: int, what: str) -> None:
    """Progress for nobody."""


class Attached:
    """Remotes that somebody else runs: nothing is started, replaced or removed."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = tuple(addresses)

    @property
    def n(self) -> int:
        """How many remotes there are."""
        return len(self._addresses)

    def start(self, progress: Progress) -> Sequence[Address]:
        """Their addresses."""
        for index, address in enumerate(self._addresses):
            progress(index, f"attached to {address}")
        return self._addresses

    def replace(self, index: int) -> Address:
        """The same address: whoever runs it brings it back."""
        return self._addresses[index]

    def close(self) -> None:
        """Nothing is ours."""
