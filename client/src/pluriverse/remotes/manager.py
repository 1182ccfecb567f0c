"""Starting, replacing and removing remotes: the interface for environments, and what its implementations share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Generic, Protocol, TypeVar, runtime_checkable

from pluriverse.errors import RemoteUnavailable

from .address import Address
from .engine import StartedRemote
from .health import HEAL_S, is_silent
from .pool import CLOSED, Pool

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


R = TypeVar("R", bound=StartedRemote)


class StartedRemotes(Generic[R]):
    """A ``RemoteManager`` of remotes that an engine starts for it, from a pool of its own or a shared one."""

    def __init__(self, n: int, pool: Pool[R], *, owns_pool: bool = True) -> None:
        self._n = n
        self.pool = pool
        self._owns_pool = owns_pool
        self._remotes: list[R | None] = [None] * n
        self._lock = threading.Lock()
        self._closed = False

    @property
    def n(self) -> int:
        return self._n

    def start(self, progress: Progress) -> Sequence[Address]:
        def start(index: int) -> Address:
            progress(index, f"starting {self.pool.engine.what}")
            address = self._take(index)
            progress(index, f"ready at {address}")
            return address

        threads = ThreadPoolExecutor(self._n, thread_name_prefix="pluriverse: start")
        try:
            starting = [threads.submit(start, index) for index in range(self._n)]
            for started in as_completed(starting):
                try:
                    started.result()
                except RemoteUnavailable as error:
                    ready = sum(each.done() and each.exception() is None for each in starting)
                    raise RemoteUnavailable(
                        f"{ready} of {self._n} remotes were ready when one failed: {error}"
                    ) from error
            return [started.result() for started in starting]
        except KeyboardInterrupt:
            # Removing takes seconds: only Python itself waits for it before it exits.
            threading.Thread(target=self.close, name="pluriverse: removing remotes").start()
            raise
        except BaseException:
            self.close()
            raise
        finally:
            # Not waited for: once this is closed, those that still start give up by themselves.
            threads.shutdown(wait=False, cancel_futures=True)

    def replace(self, index: int) -> Address:
        remote = self._remotes[index]
        if remote is not None:
            try:
                if not is_silent(remote.address):
                    self.pool.wait_for(remote, HEAL_S, self._require_open)
                    return remote.address
            except RemoteUnavailable:
                pass  # dead, or beyond its own healing
        with self._lock:
            before, self._remotes[index] = self._remotes[index], None
        if before is not None:
            self.pool.discard(before)
        return self._take(index)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            remotes = [remote for remote in self._remotes if remote is not None]
            self._remotes = [None] * self._n
        if self._owns_pool:
            self.pool.close()
        else:
            self.pool.discard_all(remotes)

    def _take(self, index: int) -> Address:
        self._require_open()
        remote = self.pool.take(self._require_open)
        with self._lock:
            closed = self._closed
            if not closed:
                self._remotes[index] = remote
        if closed:  # meanwhile, without knowing of this one
            self.pool.discard(remote)
            self._require_open()
        return remote.address

    def _require_open(self) -> None:
        if self._closed:
            raise RemoteUnavailable(CLOSED)


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
