"""Starting, replacing and removing remotes: the interface for environments, and those that run elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from .address import Address

# Called with an index and a few words on what its remote is doing.
Progress = Callable[[int, str], None]


@runtime_checkable
class RemoteManager(Protocol):
    """A fixed number of remotes. All calls block; ``replace`` may be called from several threads, for other indices."""

    @property
    def n(self) -> int: ...

    def start(self, progress: Progress) -> Sequence[Address]:
        """Start all, side by side, and wait until each is ready to be connected to.

        Raises:
            RemoteUnavailable: one could not be started; the others were removed again.
        """
        ...

    def replace(self, index: int) -> Address:
        """Return the remote's address after its connections broke: the same if it is ready again soon, else a new one.

        Raises:
            RemoteUnavailable: it could not be started.
        """
        ...

    def close(self) -> None:
        """Remove all that ``start`` and ``replace`` started; may be called at any time, repeatedly, from any thread."""
        ...


class Attached:
    """Remotes that run elsewhere: nothing is started, replaced or removed."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = tuple(addresses)

    @property
    def n(self) -> int:
        return len(self._addresses)

    def start(self, progress: Progress) -> Sequence[Address]:
        for index, address in enumerate(self._addresses):
            progress(index, f"attached to {address}")
        return self._addresses

    def replace(self, index: int) -> Address:
        """Return the same address: its operator restarts the remote."""
        return self._addresses[index]

    def close(self) -> None:
        """Leave them as they are."""


def no_progress(index: int, what: str) -> None:
    """Show no progress."""
