"""What the two kinds of places that a remote has in a cluster have in common: sandboxes that are claimed, and pods."""

from __future__ import annotations

import time
from abc import abstractmethod

from pluriverse.remotes.lease import Leased

from .cluster import Manifest


class Place(Leased):
    """Where a remote of ours is or will be."""

    @abstractmethod
    def find(self, deadline: float) -> str:
        """Return the address of the pod to try next, once there is one; ``deadline`` is of the steady clock.

        Raises:
            RemoteUnavailable: there is none in time, or there can't be one.
        """

    @abstractmethod
    def refused(self) -> None:
        """Note that the remote in the pod that was found is somebody else's, or doesn't answer."""


def left_s(deadline: float) -> float:
    """Return how many seconds there are until ``deadline``."""
    return max(0.0, deadline - time.monotonic())


def condition(manifest: Manifest, name: str) -> Manifest:
    """Return a condition of an object's status, empty if it has none of this type."""
    conditions: list[Manifest] = manifest.get("status", {}).get("conditions") or []
    nothing: Manifest = {}
    return next((each for each in conditions if each.get("type") == name), nothing)
