"""The remotes that an engine has started for an environment: those in use, and spares that are ready to be taken."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final, Generic, TypeVar

from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.forks import Owner

from .address import Address
from .engine import Engine, StartedRemote
from .health import HEAL_S, is_silent, wait_until_ready
from .manager import Progress

log: Final = logging.getLogger(__name__)

R = TypeVar("R", bound=StartedRemote)

# Each remote is some 100 MB and a share of a core; more than this is a typing error, or several processes' work.
MAX_REMOTES: Final = 1024

# A free port may be taken by another program before a remote binds it.
ATTEMPTS: Final = 3

# After a spare could not be started: what is missing is seldom there again sooner.
RETRY_S: Final = 5.0

CLOSED: Final = "the environment is being closed"


class StartedRemotes(Generic[R]):
    """A ``RemoteManager`` of ``n`` remotes that an engine starts.

    ``warm`` more are kept ready: one is taken at once in place of one that died, and another is started.
    """

    def __init__(self, n: int, engine: Engine[R], *, warm: int = 0, start_timeout_s: float) -> None:
        self._n = n
        self.engine = engine
        self._owner = Owner("these remotes")
        self._warm = warm
        self._start_timeout_s = start_timeout_s
        self._remotes: list[R | None] = [None] * n
        self._all: set[R] = set()
        self._spares: deque[R] = deque()
        self._changed = threading.Condition()
        self._starting = threading.Semaphore(engine.STARTED_AT_ONCE)
        self._closed = False
        self._refiller: threading.Thread | None = None

    @property
    def n(self) -> int:
        return self._n

    def start(self, progress: Progress) -> Sequence[Address]:
        def start(index: int) -> Address:
            progress(index, f"starting {self.engine.what}")
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
        self._require_open()
        remote = self._remotes[index]
        if remote is not None:
            try:
                if not is_silent(remote.address):
                    self._wait_for(remote, HEAL_S)
                    return remote.address
            except RemoteUnavailable:
                pass  # dead, or beyond its own healing
            self._discard(remote)
        return self._take(index)

    def close(self) -> None:
        """Stop all, and start no more; may be called repeatedly, from any thread, also while remotes start.

        In a fork of the process that made it, does nothing: the remotes are the parent's.
        """
        if not self._owner.is_here:
            return
        with self._changed:
            first, self._closed = not self._closed, True
            remotes = list(self._all)
            self._all.clear()
            self._spares.clear()
            self._changed.notify_all()
        self.engine.stop_all(remotes)
        if first:
            self.engine.close()

    def take(self) -> R:
        """Return a remote that is ready: a spare, or one that is started now.

        Raises:
            RemoteUnavailable: it could not be started.
        """
        self._require_open()
        remote = self._take_spare()
        self._refill()
        return remote if remote is not None else self._start()

    # -- Starting ------------------------------------------------------------------------------------------------------

    def _take(self, index: int) -> Address:
        remote = self._remotes[index] = self.take()
        self._require_open()
        return remote.address

    def _start(self) -> R:
        with self._starting:
            return self._start_now()

    def _start_now(self) -> R:
        for attempt in range(ATTEMPTS):
            remote = self._launch()
            try:
                self._wait_for(remote, self._start_timeout_s)
            except RemoteUnavailable:
                again = attempt < ATTEMPTS - 1 and self.engine.may_try_again(remote)
                self._discard(remote)
                if not again:
                    raise
            except BaseException:
                self._discard(remote)
                raise
            else:
                return remote
            finally:
                self.engine.started(remote)
        raise AssertionError

    def _launch(self) -> R:
        self._require_open()
        remote = self.engine.make()
        with self._changed:
            closed = self._closed
            if not closed:
                self._all.add(remote)
        if closed:  # meanwhile, without knowing of this one
            remote.stop()
            self._require_open()
        try:
            self.engine.begin(remote)
        except BaseException:
            self._discard(remote)
            raise
        return remote

    def _wait_for(self, remote: R, timeout_s: float) -> None:
        def ready_or_ended() -> None:
            self._require_open()
            remote.require_running()

        # One may answer, and still not be ours any more.
        ready_or_ended()
        wait_until_ready(remote.address, timeout_s, ready_or_ended)

    def _discard(self, remote: R) -> None:
        with self._changed:
            known = remote in self._all
            self._all.discard(remote)
        if known:
            remote.stop()

    def _require_open(self) -> None:
        self._owner.require()
        if self._closed:
            raise RemoteUnavailable(CLOSED)

    # -- Spares --------------------------------------------------------------------------------------------------------

    def _take_spare(self) -> R | None:
        while True:
            with self._changed:
                if not self._spares:
                    return None
                remote = self._spares.popleft()
            try:
                remote.require_running()
                if not is_silent(remote.address):
                    return remote
            except RemoteUnavailable:
                pass  # it has ended
            self._discard(remote)

    def _refill(self) -> None:
        """Start the missing spares in the background, one after the other."""
        with self._changed:
            if self._closed or self._refiller is not None or len(self._spares) >= self._warm:
                return
            self._refiller = threading.Thread(target=self._fill, name="pluriverse: spare remotes", daemon=True)
            self._refiller.start()

    def _fill(self) -> None:
        while True:
            with self._changed:
                if self._closed or len(self._spares) >= self._warm:
                    self._refiller = None
                    return
            try:
                remote = self._start()
            except (RemoteUnavailable, ConfigurationError) as error:
                if not self._closed:
                    log.warning("a spare remote could not be started: %s; trying again in %g s", error, RETRY_S)
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, RETRY_S)
                continue
            with self._changed:
                if not self._closed:
                    self._spares.append(remote)
                self._changed.notify_all()
