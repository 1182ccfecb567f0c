"""The computers that clients of a server have open, by handle. What a client does to one disturbs no other."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any, Final

from pluriverse_protocol.kinds import CLOCKS

from pluriverse import validation
from pluriverse.adapters.computer import Computer
from pluriverse.errors import ConfigurationError, PluriverseError
from pluriverse.remotes.free import Full, Remotes
from pluriverse.runtimes import runtime_of

# Handles are secrets, too: who doesn't know one can't act on what another client plays.
HANDLE_BYTES: Final = 9
# A client that has gone without giving its remote back leaves it to others after so long.
IDLE_S: Final = 600.0
# Each call holds a thread until it is answered.
MAX_CALLS: Final = 8
# How often a call that waits for others looks whether it was given up.
LOOK_S: Final = 0.05
# What goes on by itself leaves calls so long between two frames.
TURN_S: Final = 0.001


class NoSuchHandle(PluriverseError):
    """Unknown handle; its environment may have been released, or its remote has died."""


class Busy(PluriverseError):
    """Too many calls on an environment are under way."""


@dataclass(slots=True)
class _Open:
    computer: Computer
    # Where its remote runs; None: it is lent.
    place: str | None
    # Calls on one computer come one after the other.
    lock: threading.Lock = field(default_factory=threading.Lock)
    calls: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(MAX_CALLS))
    used: float = field(default_factory=time.monotonic)
    closed: bool = False
    # Of one that goes on by itself in lockstep: set once it stands still again.
    frozen: threading.Event | None = None


class Computers:
    """Opens computers on ``places``, of any environment. All methods block, and may be called by any thread."""

    def __init__(self, places: Remotes | None, *, clock: str | None, idle_s: float = IDLE_S, **options: Any) -> None:
        """``places`` None: none can be opened, but only lent. ``clock`` and the ``options`` are those of ``Computer``.

        Where all remotes are in use, one that was not used for ``idle_s`` seconds is taken for another environment.
        """
        if clock is not None:
            validation.choice("clock", clock, CLOCKS)
        self._places = places
        self._idle_s = idle_s
        self._options: dict[str, Any] = {"clock": clock, **options}
        self._open: dict[str, _Open] = {}

    def open(self, env_id: str | None) -> str:
        if self._places is None:
            raise ConfigurationError("this server opens no environments")
        place = self._take(self._places)
        try:
            computer = Computer(env_id, place, **self._options)
        except BaseException:
            self._places.give_back(place)
            raise
        return self._keep(computer, place)

    def lend(self, computer: Computer) -> str:
        """Give clients a computer that its owner closes, after ``close`` took it back; return its handle."""
        return self._keep(computer, None)

    @contextlib.contextmanager
    def using(self, handle: str, given_up: threading.Event | None = None) -> Generator[Computer]:
        """Have a computer to oneself. Once ``given_up`` is set, the wait for it and what it does break off."""
        opened = self._open.get(handle)
        if opened is None:
            raise NoSuchHandle(
                f"there is no environment {handle!r:.40}; begin_episode opens one and returns its handle"
            )
        if not opened.calls.acquire(blocking=False):
            raise Busy(f"{MAX_CALLS} calls on the environment {handle!r:.40} are in progress; wait for their answers")
        try:
            while not opened.lock.acquire(timeout=LOOK_S):
                _require_wanted(given_up)
            try:
                _require_wanted(given_up)
                if opened.closed:
                    raise NoSuchHandle(f"the environment {handle!r:.40} has been released")
                opened.computer.given_up = given_up
                yield opened.computer
            finally:
                opened.computer.given_up = None
                opened.used = time.monotonic()
                opened.lock.release()
        finally:
            opened.calls.release()

    def do(self, handle: str, action: Callable[[Computer], Any], given_up: threading.Event | None = None) -> Any:
        with self.using(handle, given_up) as computer:
            return action(computer)

    def thaw(self, handle: str, speed: float, given_up: threading.Event | None = None) -> None:
        """Let an environment in lockstep go on by itself, ``speed`` times as fast as its own time."""
        with self.using(handle, given_up) as computer:
            opened = self._open[handle]
            _require_lockstep(computer)
            if opened.place is None:
                raise ConfigurationError("this handle's environment only goes on by what you do")
            self.stop(handle)
            opened.frozen = frozen = threading.Event()
            threading.Thread(target=_go_on, args=(opened, frozen, speed), name="thawed", daemon=True).start()

    def freeze(self, handle: str, given_up: threading.Event | None = None) -> None:
        """Let an environment in lockstep stand still again between two calls."""
        self.stop(handle)
        self.do(handle, _require_lockstep, given_up)

    def stop(self, handle: str) -> None:
        """Let what goes on by itself in lockstep do so no more."""
        opened = self._open.get(handle)
        if opened is not None and opened.frozen is not None:
            opened.frozen.set()

    def is_frozen(self, handle: str) -> bool:
        """Return whether an environment stands still between two calls."""
        opened = self._open.get(handle)
        if opened is None or opened.computer.clock != "lockstep":
            return False
        return opened.frozen is None or opened.frozen.is_set()

    def change(self, handle: str, env_id: str, given_up: threading.Event | None = None) -> None:
        """Prepare a handle for another environment: one of another runtime needs another remote in the same place."""
        with self.using(handle, given_up) as computer:
            opened = self._open[handle]
            if computer.described.env_id == env_id:
                return
            if self._places is None or opened.place is None:
                raise ConfigurationError(f"this handle only plays {computer.described.env_id}, not {env_id!r:.200}")
            if runtime_of(computer.described.env_id) == runtime_of(env_id):
                return
            computer.close()
            try:
                opened.computer = Computer(env_id, opened.place, **self._options)
            except BaseException as error:
                opened.closed = True
                if self._open.pop(handle, None) is not None:
                    self._places.give_back(opened.place)
                if isinstance(error, PluriverseError):
                    raise NoSuchHandle(f"{error}; the environment of this handle was released") from error
                raise

    def close(self, handle: str) -> None:
        """Release a remote, once it is unused."""
        opened = self._open.pop(handle, None)
        if opened is None:
            raise NoSuchHandle(f"there is no environment {handle!r:.40}")
        with opened.lock:
            opened.closed = True
            if self._places is None or opened.place is None:
                return
            try:
                opened.computer.close()
            finally:
                self._places.give_back(opened.place)

    def _take(self, places: Remotes) -> str:
        try:
            return places.take()
        except Full:
            idle = self._idle()
            if idle is None:
                much = f"all {places.count} remotes are in use"
                raise Full(f"{much}: release one first, or start the server with more --remotes") from None
            with contextlib.suppress(NoSuchHandle):
                self.close(idle)
            return places.take()

    def _idle(self) -> str | None:
        """Return the handle of what was longest not used, if that is long enough."""
        since = time.monotonic() - self._idle_s
        idle = [
            (opened.used, handle)
            for handle, opened in list(self._open.items())
            if opened.place is not None and opened.used < since and not opened.lock.locked()
        ]
        return min(idle)[1] if idle else None

    def _keep(self, computer: Computer, place: str | None) -> str:
        handle = secrets.token_urlsafe(HANDLE_BYTES)
        self._open[handle] = _Open(computer, place)
        return handle

    def close_all(self) -> None:
        """Give all remotes back; what is under way breaks off."""
        for handle, opened in list(self._open.items()):
            opened.computer.close()
            with contextlib.suppress(NoSuchHandle):
                self.close(handle)


def _require_lockstep(computer: Computer) -> None:
    if computer.clock != "lockstep":
        raise ConfigurationError("in real time it always goes on; begin an episode with the clock lockstep")


def _go_on(opened: _Open, frozen: threading.Event, speed: float) -> None:
    """Let a computer's frames pass, until it is frozen, closed, lost, or its episode over."""
    due = time.monotonic()
    while not frozen.wait(max(TURN_S, due - time.monotonic())):
        with opened.lock, contextlib.suppress(PluriverseError):
            if frozen.is_set() or opened.closed:
                return
            opened.computer.send([])
            if not opened.computer.over:
                # Time that was lost is not made up for.
                due = max(due + opened.computer.frame_ms / 1000 / speed, time.monotonic())
                continue
        # What is lost the next call says.
        frozen.set()


def _require_wanted(given_up: threading.Event | None) -> None:
    if given_up is not None and given_up.is_set():
        raise CancelledError
