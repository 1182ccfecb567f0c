"""What the two kinds of places that a remote has in a cluster have in common: sandboxes that are claimed, and pods."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import Final

from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.lease import Lease, LeaseKeeper, claim

from .cluster import Manifest

STOPPED: Final = "the environment is being closed"


class Place(ABC):
    """Where a remote of ours is or will be. It runs anyway, and is ours while we have its lease."""

    def __init__(self, keeper: LeaseKeeper) -> None:
        self.lease: Lease | None = None
        self._keeper = keeper
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def address(self) -> Address:
        """Where it is, with the lease's own token, once there is one."""
        if self.lease is None:
            raise RemoteUnavailable(STOPPED)
        return self.lease.address

    def claim(self, address: Address) -> None:
        """Have its lease, which is renewed from now on; one that comes after ``stop`` is given back at once."""
        lease = claim(address)
        with self._lock:
            if not self.stopped:
                self.lease = lease
                self._keeper.add(lease)
                return
        lease.release()
        raise RemoteUnavailable(STOPPED)

    def require_running(self) -> None:
        """Raise RemoteUnavailable if it is gone, or no longer ours."""
        lost = None if self.lease is None else self.lease.lost
        why = STOPPED if self.stopped else self.why_gone() or lost
        if why is not None:
            raise RemoteUnavailable(why)

    def stop(self) -> None:
        """Give it back; may be called repeatedly."""
        with self._lock:
            first = not self.stopped
            self._stopped.set()
        if first:
            if self.lease is not None:
                self._keeper.remove(self.lease)
            self.give_back()

    def pause(self, seconds: float) -> None:
        """Wait, but not if it is stopped."""
        self._stopped.wait(seconds)

    @abstractmethod
    def find(self, deadline: float) -> str:
        """Return the address of the pod to try next, once there is one; ``deadline`` is of the steady clock."""

    @abstractmethod
    def refused(self) -> None:
        """Note that the remote in the found pod is in use by another client, or doesn't answer."""

    @abstractmethod
    def why_gone(self) -> str | None:
        """Return what became of it; None while it is there."""

    @abstractmethod
    def give_back(self) -> None:
        """Release the lease, if there is one, and leave the place to others; called once."""


def left_s(deadline: float) -> float:
    """Return how many seconds there are until ``deadline``."""
    return max(0.0, deadline - time.monotonic())


def condition(manifest: Manifest, name: str) -> Manifest:
    """Return a condition of an object's status, empty if it has none of this type."""
    conditions: list[Manifest] = manifest.get("status", {}).get("conditions") or []
    nothing: Manifest = {}
    return next((each for each in conditions if each.get("type") == name), nothing)
