"""The remotes that one engine has started for this process: those in use, and spares that are ready to be taken."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from pluriverse import validation
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.forks import Owner

from .engine import MAX_WARM, Engine, StartedRemote
from .health import is_silent, wait_until_ready

if TYPE_CHECKING:
    from .manager import RemoteManager

log: Final = logging.getLogger(__name__)

R = TypeVar("R", bound=StartedRemote)

# Each remote is some 100 MB and a share of a core; more than this is a typing error, or several processes' work.
MAX_REMOTES: Final = 1024

# A free port may be taken by another program before a remote binds it.
ATTEMPTS: Final = 3

# After a spare could not be started: what is missing is seldom there again sooner.
RETRY_S: Final = 5.0

CLOSED: Final = "the environment is being closed"


class Pool(Generic[R]):
    """Remotes of one engine. ``warm`` of them are kept ready: one is taken at once, and another is started.

    Only spares are ever removed to make the pool smaller, never what was taken.
    """

    def __init__(self, engine: Engine[R], *, warm: int = 0, start_timeout_s: float) -> None:
        self.engine = engine
        self._owner = Owner("this pool of remotes")
        self._warm = warm
        self._start_timeout_s = start_timeout_s
        self._all: set[R] = set()
        self._spares: deque[R] = deque()
        self._changed = threading.Condition()
        self._starting = threading.Semaphore(engine.STARTED_AT_ONCE)
        self._closed = False
        self._refiller: threading.Thread | None = None

    def __enter__(self) -> Pool[R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def claim(self, n: int) -> RemoteManager:
        """Return ``n`` remotes of this pool as what ``remotes=`` takes, with nothing taken yet.

        The environment that they are given to takes them when it is configured, and stops them when it is closed.

        Raises:
            ConfigurationError: ``n`` is no number of remotes.
        """
        from .manager import StartedRemotes

        return StartedRemotes(validation.integer("n", n, 1, MAX_REMOTES), self, owns_pool=False)

    @property
    def spares(self) -> int:
        return len(self._spares)

    def resize(self, warm: int) -> None:
        """Keep so many spares ready: start those that are missing in the background, and remove what is too many.

        Raises:
            ConfigurationError: ``warm`` is no number of spares.
        """
        self._owner.require()
        warm = validation.integer("warm", warm, 0, MAX_WARM)
        with self._changed:
            self._warm = warm
            surplus = [self._spares.popleft() for _ in range(len(self._spares) - warm)]
            self._all.difference_update(surplus)
        self.engine.stop_all(surplus)
        self.refill()

    def wait_until_warm(self, timeout_s: float) -> None:
        """Wait until all spares are ready.

        Raises:
            RemoteUnavailable: they weren't within ``timeout_s`` seconds.
        """
        self.refill()
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed or len(self._spares) >= self._warm, timeout_s):
                raise RemoteUnavailable(
                    f"{len(self._spares)} of {self._warm} spare remotes were ready within {timeout_s:g} s"
                )

    def take(self, check: Callable[[], None] = lambda: None) -> R:
        """Return a remote that is ready: a spare, or one that is started now. ``check`` raises when waiting is in vain.

        Raises:
            RemoteUnavailable: it could not be started.
        """
        self._owner.require()
        remote = self._take_spare()
        self.refill()
        return remote if remote is not None else self._start(check)

    def wait_for(self, remote: R, timeout_s: float, check: Callable[[], None] = lambda: None) -> None:
        """Wait until a remote of this pool is ready.

        Raises:
            RemoteUnavailable: it has ended, or it isn't within ``timeout_s`` seconds.
        """

        def ready_or_ended() -> None:
            self._require_open()
            check()
            remote.require_running()

        # One may answer, and still not be ours any more.
        ready_or_ended()
        wait_until_ready(remote.address, timeout_s, ready_or_ended)

    def discard(self, remote: R) -> None:
        if self._forget(remote):
            remote.stop()

    def discard_all(self, remotes: Sequence[R]) -> None:
        """Stop some that were taken, side by side."""
        self.engine.stop_all([remote for remote in remotes if self._forget(remote)])

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

    # -- Starting ------------------------------------------------------------------------------------------------------

    def _start(self, check: Callable[[], None]) -> R:
        with self._starting:
            return self._start_now(check)

    def _start_now(self, check: Callable[[], None]) -> R:
        for attempt in range(ATTEMPTS):
            remote = self._launch(check)
            try:
                self.wait_for(remote, self._start_timeout_s, check)
            except RemoteUnavailable:
                again = attempt < ATTEMPTS - 1 and self.engine.may_try_again(remote)
                self.discard(remote)
                if not again:
                    raise
            except BaseException:
                self.discard(remote)
                raise
            else:
                return remote
            finally:
                self.engine.started(remote)
        raise AssertionError

    def _launch(self, check: Callable[[], None]) -> R:
        self._require_open()
        check()
        remote = self.engine.make()
        with self._changed:
            closed = self._closed
            if not closed:
                self._all.add(remote)
        if closed:  # meanwhile, without knowing of this one
            remote.stop()
            self._require_open()
        try:
            check()
            self.engine.begin(remote)
        except BaseException:
            self.discard(remote)
            raise
        return remote

    def _forget(self, remote: R) -> bool:
        if not self._owner.is_here:
            return False
        with self._changed:
            known = remote in self._all
            self._all.discard(remote)
            with contextlib.suppress(ValueError):
                self._spares.remove(remote)
        return known

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
            except RemoteUnavailable:
                self.discard(remote)
                continue
            if not is_silent(remote.address):
                return remote
            self.discard(remote)

    def refill(self) -> None:
        """Start the missing spares in the background, one after the other."""
        self._owner.require()
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
                remote = self._start(lambda: None)
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
