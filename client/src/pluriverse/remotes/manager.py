"""Starting, replacing and removing remotes: the interface for environments, and what its implementations share."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Generic, Protocol, TypeVar, runtime_checkable

from pluriverse.errors import RemoteUnavailable

from .address import Address
from .health import HEAL_S, is_silent, wait_until_ready

# Called with an index and a few words on what its remote is doing.
Progress = Callable[[int, str], None]


@runtime_checkable
class RemoteManager(Protocol):
    """A fixed number of remotes. All calls block; ``replace`` may be called from several threads, for other indices."""

    @property
    def n(self) -> int:
        """How many remotes there are."""
        ...

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


class StartedRemote(Protocol):
    """One remote of a ``StartedRemotes``."""

    @property
    def address(self) -> Address:
        """Its address, once it has begun."""
        ...

    def require_running(self) -> None:
        """Raise RemoteUnavailable, with its last output, unless it runs."""
        ...

    def stop(self) -> None:
        """Stop and remove it."""
        ...


R = TypeVar("R", bound=StartedRemote)


class StartedRemotes(ABC, Generic[R]):
    """A ``RemoteManager`` that starts its remotes itself; a subclass says how, and calls it ``what`` in words."""

    def __init__(self, n: int, what: str, *, start_timeout_s: float) -> None:
        self._n = n
        self._what = what
        self._start_timeout_s = start_timeout_s
        self._remotes: list[R | None] = [None] * n
        self._lock = threading.Lock()
        self._closed = False

    @property
    def n(self) -> int:
        """How many remotes there are."""
        return self._n

    def start(self, progress: Progress) -> Sequence[Address]:
        """See ``RemoteManager.start``."""

        def start(index: int) -> Address:
            progress(index, f"starting {self._what}")
            address = self._start_one(index)
            progress(index, f"ready at {address}")
            return address

        pool = ThreadPoolExecutor(self._n, thread_name_prefix="pluriverse: start")
        try:
            starting = [pool.submit(start, index) for index in range(self._n)]
            for started in as_completed(starting):
                started.result()
            return [started.result() for started in starting]
        except KeyboardInterrupt:
            # Removing takes seconds: nobody has to wait for it, but Python itself before it exits.
            threading.Thread(target=self._remove, args=self._shut(), name="pluriverse: removing remotes").start()
            raise
        except BaseException:
            self.close()
            raise
        finally:
            # Not waited for: once this is closed, those that still start give up by themselves.
            pool.shutdown(wait=False, cancel_futures=True)

    def replace(self, index: int) -> Address:
        """See ``RemoteManager.replace``."""
        remote = self._remotes[index]
        if remote is not None:
            try:
                if not is_silent(remote.address):
                    return self._wait_for(remote, HEAL_S)
            except RemoteUnavailable:
                pass  # dead, or beyond its own healing
        return self._start_one(index)

    def close(self) -> None:
        """See ``RemoteManager.close``."""
        self._remove(*self._shut())

    def _shut(self) -> tuple[list[R], bool]:
        """Let no more remotes start; return those that are left to remove, and whether this is the first time."""
        with self._lock:
            first, self._closed = not self._closed, True
            remotes = [remote for remote in self._remotes if remote is not None]
            self._remotes = [None] * self._n
        return remotes, first

    def _remove(self, remotes: Sequence[R], first: bool) -> None:
        self._stop_all(remotes)
        if first:
            self._release()

    @abstractmethod
    def _make(self, index: int) -> R:
        """Start a remote, or raise ``RemoteUnavailable``; called by several threads, for other indices."""

    def _begin(self, remote: R) -> None:
        """Do the part of starting a remote during which ``close`` removes it."""

    @abstractmethod
    def _stop_all(self, remotes: Sequence[R]) -> None:
        """Stop remotes, side by side."""

    @abstractmethod
    def _release(self) -> None:
        """Free everything else; called once."""

    def _start_one(self, index: int) -> Address:
        return self._wait_for(self._launch(index), self._start_timeout_s)

    def _launch(self, index: int) -> R:
        """Start the remote of ``index`` in the place of the one before."""
        with self._lock:
            before, self._remotes[index] = self._remotes[index], None
        if before is not None:
            before.stop()
        self._require_open()
        remote = self._make(index)
        with self._lock:
            closed = self._closed
            if not closed:
                self._remotes[index] = remote
        if closed:  # meanwhile, without knowing of this one
            remote.stop()
            self._require_open()
        self._begin(remote)
        return remote

    def _wait_for(self, remote: R, timeout_s: float) -> Address:
        def check() -> None:
            self._require_open()
            remote.require_running()

        address = remote.address
        wait_until_ready(address, timeout_s, check)
        return address

    def _require_open(self) -> None:
        if self._closed:
            raise RemoteUnavailable("the environment is being closed")


class Attached:
    """Remotes that somebody else runs: nothing is started, replaced or removed."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = tuple(addresses)

    @property
    def n(self) -> int:
        """How many remotes there are."""
        return len(self._addresses)

    def start(self, progress: Progress) -> Sequence[Address]:
        """Return their addresses."""
        for index, address in enumerate(self._addresses):
            progress(index, f"attached to {address}")
        return self._addresses

    def replace(self, index: int) -> Address:
        """Return the same address: whoever runs the remote brings it back."""
        return self._addresses[index]

    def close(self) -> None:
        """Leave them as they are."""


def no_progress(index: int, what: str) -> None:
    """Show no progress."""
