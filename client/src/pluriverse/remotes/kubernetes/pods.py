"""Pods that are there anyway, such as a Deployment's: those that are free are taken by a lease."""

from __future__ import annotations

import logging
import random
import threading
import time
from typing import Final

from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.lease import Lease, claim

from .cluster import Cluster, ClusterError, Manifest

log: Final = logging.getLogger(__name__)

STOPPED: Final = "the environment is being closed"

# One that is another trainer's may be free again after this time.
REFUSED_S: Final = 2.0

# While any of a manager's remotes lack a place, all are listed so often; while they play, never.
LIST_S: Final = 2.0

# Where there are too many, those with the lowest are removed first; others have 0.
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
PLAYS: Final = "1000"
IDLE: Final = "0"


class Pod:
    """Where a remote of ours is or will be. It runs anyway, and is ours while we have its lease."""

    def __init__(self, pods: Pods) -> None:
        self.lease: Lease | None = None
        self.name: str | None = None
        self._uid: str | None = None
        self._pods = pods
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    @property
    def address(self) -> Address:
        """Where it is, with the lease's own token, once there is one."""
        if self.lease is None:
            raise RemoteUnavailable(STOPPED)
        return self.lease.address

    def find(self, deadline: float) -> str:
        """Return the address of a ready pod that isn't known to be in use; ``deadline`` is of the steady clock."""
        while (manifest := self._pods.choose()) is None:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise RemoteUnavailable(self._pods.none_free())
            if self._stopped.wait(min(LIST_S, left_s)):
                raise RemoteUnavailable(STOPPED)
        self.name, self._uid = manifest["metadata"]["name"], manifest["metadata"]["uid"]
        return manifest["status"]["podIP"]

    def claim(self, address: Address) -> None:
        """Have its lease, which is renewed from now on; one that comes after ``stop`` is given back at once."""
        lease = claim(address)
        with self._lock:
            if not self._stopped.is_set():
                self.lease = lease
                lease.keep()
        if self.lease is None:
            lease.release()
            raise RemoteUnavailable(STOPPED)
        # When there are too many, the cluster removes others first.
        self._pods.set_deletion_cost(self.name, PLAYS)

    def refused(self) -> None:
        """Note that the remote in the found pod is in use by another client, or doesn't answer."""
        self._pods.leave(self._uid, REFUSED_S)
        self.name = self._uid = None

    def require_running(self) -> None:
        """Raise RemoteUnavailable if it is no longer ours."""
        why = STOPPED if self._stopped.is_set() else self.lease and self.lease.lost
        if why is not None:
            raise RemoteUnavailable(why)

    def stop(self) -> None:
        """End the lease: others may take the pod. May be called repeatedly."""
        with self._lock:
            first = not self._stopped.is_set()
            self._stopped.set()
        if not first or self.lease is None:
            return
        self.lease.release()
        self._pods.set_deletion_cost(self.name, IDLE)
        self._pods.leave(self._uid, 0.0)


class Pods:
    def __init__(self, cluster: Cluster, selector: str) -> None:
        self.what = f"a pod of {selector}"
        self._cluster = cluster
        self._selector = selector
        self._lock = threading.Lock()
        self._ours: set[str] = set()
        self._refused_until: dict[str, float] = {}
        try:
            self._listed = cluster.list(selector)
        except ClusterError as error:
            raise ConfigurationError(str(error)) from error
        self._listed_at = time.monotonic()

    def choose(self) -> Manifest | None:
        """Return a pod that may be free, and have it for ourselves, or None."""
        with self._lock:
            now = time.monotonic()
            if now > self._listed_at + LIST_S:
                self._list()
            self._refused_until = {uid: until for uid, until in self._refused_until.items() if until > now}
            taken = self._ours | self._refused_until.keys()
            free = [each for each in self._ready() if each["metadata"]["uid"] not in taken]
            if not free:
                return None
            # Other trainers choose at the same time.
            chosen = random.choice(free)  # noqa: S311 - no secret
            self._ours.add(chosen["metadata"]["uid"])
            return chosen

    def leave(self, uid: str | None, for_s: float) -> None:
        """Have one no longer for ourselves, and don't choose it for so many seconds."""
        if uid is None:
            return
        with self._lock:
            self._ours.discard(uid)
            self._refused_until[uid] = time.monotonic() + for_s

    def set_deletion_cost(self, name: str | None, cost: str) -> None:
        """Set a pod's deletion cost; without that permission, the cluster chooses freely."""
        assert name is not None
        try:
            self._cluster.patch(name, {"metadata": {"annotations": {DELETION_COST: cost}}})
        except ClusterError as error:
            log.info("the cluster may remove pod %s while it is playing: %s", name, error)

    def none_free(self) -> str:
        """Return why there was no free one in time."""
        with self._lock:
            ready, there, ours = len(self._ready()), len(self._listed), len(self._ours)
        return (
            f"no pod of {self._selector} in {self._cluster} became free in time: of {there} that are there {ready} are "
            f"ready, and of these {ours} are ours and {ready - ours} another client's\nFor more of them: kubectl scale "
            f"--namespace {self._cluster.namespace} --replicas=N deployment/NAME; others are named by ?selector=…"
        )

    def _list(self) -> None:
        try:
            self._listed = self._cluster.list(self._selector)
        except ClusterError as error:
            # An API server that restarts is back within seconds.
            log.info("%s", error)
        self._listed_at = time.monotonic()

    def _ready(self) -> list[Manifest]:
        return [each for each in self._listed if _is_ready(each)]


def _is_ready(manifest: Manifest) -> bool:
    status = manifest.get("status", {})
    conditions: list[Manifest] = status.get("conditions") or []
    return (
        not manifest["metadata"].get("deletionTimestamp")
        and bool(status.get("podIP"))
        and any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    )
