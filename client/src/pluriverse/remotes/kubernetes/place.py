"""What the two kinds of places that a remote has in a cluster have in common: sandboxes that are claimed, and pods."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import Final

from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.lease import Lease

from .cluster import Manifest

STOPPED: Final = "the environment is being closed"


class Place(ABC):
    """Where a remote of ours is or will be. It is ours while we have the remote's lease."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether it was stopped."""
        return self._stopped.is_set()

    @property
    def address(self) -> Address:
        """Where it is, with the lease's own token, once there is one."""
        if self.lease is None:
            raise RemoteUnavailable(STOPPED)
        return self.lease.address

    def require_running(self) -> None:
        """Raise RemoteUnavailable if it is gone, or no longer ours."""
        lost = None if self.lease is None else self.lease.lost
        why = STOPPED if self.stopped else lost or self.why_gone()
        if why is not None:
            raise RemoteUnavailable(why)

    def occupy(self, lease: Lease) -> None:
        """Have the lease, unless it was stopped meanwhile: then that is given back, and RemoteUnavailable raised."""
        with self._lock:
            if not self.stopped:
                self.lease = lease
        if self.lease is None:
            lease.release()
            raise RemoteUnavailable(STOPPED)

    def stop(self) -> None:
        """Give it back; may be called repeatedly."""
        with self._lock:
            first = not self.stopped
            self._stopped.set()
        if first:
            self.give_back()

    def pause(self, seconds: float) -> None:
        """Wait, but not if it is stopped."""
        self._stopped.wait(seconds)

    @abstractmethod
    def find(self, deadline: float) -> str:
        """Return the address of the pod to try next, once there is one; ``deadline`` is of the steady clock.

        Raises:
            RemoteUnavailable: there is none in time, or there can't be one.
        """

    @abstractmethod
    def refused(self) -> None:
        """Note that the remote in the pod that was found is somebody else's, or doesn't answer."""

    @abstractmethod
    def why_gone(self) -> str | None:
        """Return what became of the pod; None while it is there."""

    @abstractmethod
    def give_back(self) -> None:
        """Leave it to others, and wake ``find``; called once."""


def left_s(deadline: float) -> float:
    """Return how many seconds there are until ``deadline``."""
    return max(0.0, deadline - time.monotonic())


def condition(manifest: Manifest, name: str) -> Manifest:
    """Return a condition of an object's status, empty if it has none of this type."""
    conditions: list[Manifest] = manifest.get("status", {}).get("conditions") or []
    nothing: Manifest = {}
    return next((each for each in conditions if each.get("type") == name), nothing)
