"""Pods that are there anyway, such as a Deployment's: those that are free are taken by a lease."""

from __future__ import annotations

import logging
import random
import threading
import time
from typing import Final

from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.lease import Lease, LeaseKeeper, claim

from .cluster import Cluster, ClusterError, Manifest
from .watched import Watched

log: Final = logging.getLogger(__name__)

STOPPED: Final = "the environment is being closed"

# One that is another trainer's may be free again after this time.
REFUSED_S: Final = 2.0

# Where there are too many, those with the lowest are removed first; others have 0.
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
PLAYS: Final = "1000"
IDLE: Final = "0"


class Pod:
    """Where a remote of ours is or will be. It runs anyway, and is ours while we have its lease."""

    def __init__(self, keeper: LeaseKeeper, pods: Pods) -> None:
        self.lease: Lease | None = None
        self.name: str | None = None
        self._uid: str | None = None
        self._keeper = keeper
        self._pods = pods
        self._lock = threading.Lock()
        self._stopped = False

    @property
    def address(self) -> Address:
        """Where it is, with the lease's own token, once there is one."""
        if self.lease is None:
            raise RemoteUnavailable(STOPPED)
        return self.lease.address

    def find(self, deadline: float) -> str:
        """Return the address of a ready pod that isn't known to be in use; ``deadline`` is of the steady clock."""
        manifest: Manifest | None = None
        while manifest is None:
            if self._stopped:
                raise RemoteUnavailable(STOPPED)
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise RemoteUnavailable(self._pods.none_free())
            # One that refused may be free again, without an event.
            manifest = self._pods.watched.wait_for(self._choose, min(REFUSED_S, left_s))
        return manifest["status"]["podIP"]

    def claim(self, address: Address) -> None:
        """Have its lease, which is renewed from now on; one that comes after ``stop`` is given back at once."""
        lease = claim(address)
        with self._lock:
            if not self._stopped:
                self.lease = lease
                self._keeper.add(lease)
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
        """Raise RemoteUnavailable if it is gone, or no longer ours."""
        lost = None if self.lease is None else self.lease.lost
        why = STOPPED if self._stopped else self._why_gone() or lost
        if why is not None:
            raise RemoteUnavailable(why)

    def stop(self) -> None:
        """End the lease: others may take the pod. May be called repeatedly."""
        with self._lock:
            first, self._stopped = not self._stopped, True
        if not first:
            return
        self._pods.watched.wake()
        if self.lease is None:
            return
        self._keeper.remove(self.lease)
        if self._why_gone() is None:
            self.lease.release()
            self._pods.set_deletion_cost(self.name, IDLE)
        self._pods.leave(self._uid, 0.0)

    def _why_gone(self) -> str | None:
        """Return what became of it; None while it is there."""
        if self.name is None:
            return None
        manifest = self._pods.watched.get(self.name)
        if manifest is None or manifest["metadata"].get("uid") != self._uid:
            return f"the pod {self.name} was deleted"
        status = manifest.get("status", {})
        if status.get("phase") in ("Failed", "Succeeded"):
            said = f"{status.get('reason', status['phase'])}: {status.get('message', '')}"
            return f"the pod {self.name} has ended: {said}"
        return None

    def _choose(self) -> Manifest | None:
        if self._stopped:
            return None
        manifest = self._pods.choose()
        if manifest is not None:
            self.name, self._uid = manifest["metadata"]["name"], manifest["metadata"]["uid"]
        return manifest


class Pods:
    def __init__(self, cluster: Cluster, selector: str) -> None:
        self.what = f"a pod of {selector}"
        self._cluster = cluster
        self._selector = selector
        self._lock = threading.Lock()
        self._ours: set[str] = set()
        self._refused_until: dict[str, float] = {}
        try:
            self.watched = Watched(cluster, selector)
        except ClusterError as error:
            raise ConfigurationError(str(error)) from error

    def make(self, keeper: LeaseKeeper) -> Pod:
        return Pod(keeper, self)

    def choose(self) -> Manifest | None:
        """Return a pod that may be free, and have it for ourselves, or None."""
        ready = self._ready()
        now = time.monotonic()
        with self._lock:
            self._refused_until = {uid: until for uid, until in self._refused_until.items() if until > now}
            taken = self._ours | self._refused_until.keys()
            free = [each for each in ready if each["metadata"]["uid"] not in taken]
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
        self.watched.wake()

    def set_deletion_cost(self, name: str | None, cost: str) -> None:
        """Set a pod's deletion cost; without that permission, the cluster chooses freely."""
        assert name is not None
        try:
            self._cluster.patch(name, {"metadata": {"annotations": {DELETION_COST: cost}}})
        except ClusterError as error:
            log.info("the cluster may remove pod %s while it is playing: %s", name, error)

    def none_free(self) -> str:
        """Return why there was no free one in time."""
        ready, there = len(self._ready()), len(self.watched.all())
        with self._lock:
            ours = len(self._ours)
        return (
            f"no pod of {self._selector} in {self._cluster} became free in time: of {there} that are there {ready} are "
            f"ready, and of these {ours} are ours and {ready - ours} another client's\nFor more of them: kubectl scale "
            f"--namespace {self._cluster.namespace} --replicas=N deployment/NAME; others are named by ?selector=…"
        )

    def close(self) -> None:
        self.watched.close()

    def _ready(self) -> list[Manifest]:
        return [each for each in self.watched.all() if _is_ready(each)]


def _is_ready(manifest: Manifest) -> bool:
    status = manifest.get("status", {})
    conditions: list[Manifest] = status.get("conditions") or []
    return (
        not manifest["metadata"].get("deletionTimestamp")
        and bool(status.get("podIP"))
        and any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    )
