"""The interface of what starts remotes: Docker, processes of this machine, Ray, Kubernetes."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from .address import Address

# More is a typing error.
MAX_WARM: Final = 1024


# A remote that starts on this machine takes a second of a core, and more than a few at once would miss their deadlines.
STARTED_HERE_AT_ONCE: Final = max(4, 2 * (os.cpu_count() or 1))


class StartedRemote(Protocol):
    """One remote that an engine has started, or claimed for us."""

    @property
    def address(self) -> Address: ...

    def require_running(self) -> None:
        """Raise RemoteUnavailable, with its last output, unless it runs."""
        ...

    def stop(self) -> None:
        """Stop and remove it, or give it back; may be called repeatedly."""
        ...


R = TypeVar("R", bound=StartedRemote)


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Options of every engine. ``warm``: how many remotes to keep ready beside those that are used."""

    warm: int = 0

    def __post_init__(self) -> None:
        if self.warm > MAX_WARM:
            raise ValueError(f"warm is {self.warm}, expected at most {MAX_WARM}")


class Engine(ABC, Generic[R]):
    """Starts and removes single remotes of one environment. Calls come from several threads at once.

    Its constructor takes ``(runtime, env_id, options)``, the last of the class ``Options``; it starts nothing yet, and
    raises ``ConfigurationError`` if nothing can be started here, with what is missing and the fix.
    """

    Options: ClassVar[type[EngineOptions]] = EngineOptions
    STARTED_AT_ONCE: ClassVar[int] = MAX_WARM
    """How many start side by side; others wait for their turn."""
    STOPPED_AT_ONCE: ClassVar[int] = MAX_WARM
    """How many are stopped side by side."""
    clock: str = "realtime"
    """That of a remote's first episode, which it begins itself."""
    what: str
    """What one remote is called: ``a container of pluriverse/gym-core``."""

    @abstractmethod
    def make(self) -> R:
        """Start a remote, or raise ``RemoteUnavailable``; it needn't be ready when this returns."""

    def begin(self, remote: R) -> None:
        """Do the part of starting a remote during which it may be stopped already."""

    def started(self, remote: R) -> None:
        """Note that starting a remote is over: it is ready, or was stopped."""

    def may_try_again(self, remote: R) -> bool:
        """Return whether a remote that ended before it was ready did so by bad luck."""
        return False

    def stop_all(self, remotes: Sequence[R]) -> None:
        """Stop remotes, side by side; there may be none."""
        if not remotes:
            return
        with ThreadPoolExecutor(min(len(remotes), self.STOPPED_AT_ONCE)) as threads:
            try:
                list(threads.map(_stop, remotes))
            except RuntimeError:
                # When Python exits no thread can be started any more: then one by one.
                for remote in remotes:
                    remote.stop()

    def close(self) -> None:
        """Free everything else; called once, after all remotes were stopped."""


def _stop(remote: StartedRemote) -> None:
    remote.stop()
