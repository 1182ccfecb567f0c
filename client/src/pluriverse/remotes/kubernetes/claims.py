"""Sandboxes that are claimed from a warm pool of kubernetes-sigs/agent-sandbox.

A claim expires unless this process says again and again that it still wants it, so that nothing is left behind when it
is killed. In a pod that knows its name, the claims belong to the pod as well, and go with it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes.lease import LeaseKeeper
from pluriverse.remotes.owner import this_process

from .cluster import Cluster, ClusterError, Kind, Manifest
from .place import Place, condition, left_s
from .watched import Watched

log: Final = logging.getLogger(__name__)

GROUP: Final = "extensions.agents.x-k8s.io"
VERSION: Final = "v1beta1"
CLAIMS: Final = Kind(GROUP, VERSION, "sandboxclaims")
POOLS: Final = Kind(GROUP, VERSION, "sandboxwarmpools")

# A claim lasts so long without a word of its owner. An API server that is being upgraded may be away for a minute.
TTL_S: Final = 180.0
RENEW_S: Final = TTL_S / 3

# The reasons of agent-sandbox's controller for claims that will never be ready.
HOPELESS: Final = frozenset(
    {
        "ClaimExpired",
        "EnvVarsInjectionRejected",
        "InvalidConfiguration",
        "InvalidMetadata",
        "PodFailed",
        "PodSucceeded",
        "SandboxExpired",
        "TemplateNotFound",
        "VolumeClaimTemplatesError",
        "WarmPoolNotFound",
    }
)

# The policy of its network may let us in a moment after it is ready.
REFUSED_S: Final = 0.5

# All claims of one manager have a value of it of their own, by which it watches them.
MANAGER: Final = "pluriverse/manager"
OWNER: Final = "pluriverse/owner"

# The pod that this runs in, if its manifest sets it (docs/fleet.md).
POD_NAME: Final = "PLURIVERSE_POD_NAME"
POD_UID: Final = "PLURIVERSE_POD_UID"


class Sandbox(Place):
    def __init__(self, keeper: LeaseKeeper, claims: Claims, name: str) -> None:
        super().__init__(keeper)
        self.name = name
        self._claims = claims
        self._seen = False

    def find(self, deadline: float) -> str:
        """Return the address of the sandbox's pod once it is ready."""
        host = self._claims.watched.wait_for(self._look, left_s(deadline))
        self.require_running()
        if not host:
            raise RemoteUnavailable(self._claims.none_free(self.name))
        return host

    def refused(self) -> None:
        """Give its remote time: there is no other."""
        self.pause(REFUSED_S)

    def why_gone(self) -> str | None:
        manifest = self._claims.watched.get(self.name)
        if manifest is None:
            # The watch may report it only later.
            return f"the sandbox claim {self.name} was deleted" if self._seen else None
        self._seen = True
        ready = condition(manifest, "Ready")
        if ready.get("status") != "True" and ready.get("reason") in HOPELESS:
            return f"the sandbox claim {self.name} failed: {ready['reason']}: {ready.get('message', '')}"
        return None

    def give_back(self) -> None:
        """Delete the claim: its sandbox ends, and the pool makes another."""
        self._claims.watched.wake()
        self._claims.delete(self.name)
        if self.lease is not None:
            # Else it would drain for as long as an agent is connected.
            self.lease.release()

    def _look(self) -> str | None:
        """Return the pod's address, empty if there will be none, None as long as that isn't known."""
        if self.stopped or self.why_gone() is not None:
            return ""
        manifest = self._claims.watched.get(self.name) or {}
        addresses: list[str] = manifest.get("status", {}).get("sandbox", {}).get("podIPs") or []
        return addresses[0] if addresses and condition(manifest, "Ready").get("status") == "True" else None


class Claims:
    def __init__(self, cluster: Cluster, pool: str) -> None:
        """Look for the pool, and watch the claims of this manager."""
        self.what = f"a sandbox of the warm pool {pool}"
        self._cluster = cluster
        self._pool = pool
        self._manager = secrets.token_hex(4)
        self._names: set[str] = set()
        self._lock = threading.Lock()
        try:
            self._require_pool()
            self.watched = Watched(cluster, CLAIMS, f"{MANAGER}={self._manager}")
        except ClusterError as error:
            raise ConfigurationError(str(error)) from error
        self._closed = threading.Event()
        self._renewer = threading.Thread(target=self._keep, name="pluriverse: sandbox claims", daemon=True)
        self._renewer.start()

    def make(self, keeper: LeaseKeeper) -> Sandbox:
        """Claim a sandbox; it may take a while until there is one."""
        name = f"{self._pool[:200]}-{secrets.token_hex(6)}"
        self._cluster.create(CLAIMS, self._claim(name))
        with self._lock:
            self._names.add(name)
        return Sandbox(keeper, self, name)

    def delete(self, name: str) -> None:
        with self._lock:
            self._names.discard(name)
        try:
            self._cluster.delete(CLAIMS, name)
        except ClusterError as error:
            log.warning("the sandbox claim %s will expire within %g s: %s", name, TTL_S, error)

    def none_free(self, name: str) -> str:
        """Return why there was no sandbox in time."""
        ready = condition(self.watched.get(name) or {}, "Ready")
        said = f"{ready.get('reason', '')}: {ready.get('message', '')}" if ready else "its controller reports no status"
        pool = "the pool can't be read"
        with contextlib.suppress(ClusterError):
            manifest = self._cluster.get(POOLS, self._pool)
            replicas, status = manifest.get("spec", {}).get("replicas"), manifest.get("status", {})
            pool = f"{status.get('readyReplicas', 0)} of its {replicas} spares are ready"
        return (
            f"the warm pool {self._pool} in {self._cluster} gave no sandbox in time; {pool}; claim {name}: {said}"
            f"\nSee: kubectl describe sandboxclaim,sandbox,pod --namespace {self._cluster.namespace}"
        )

    def close(self) -> None:
        self._closed.set()
        self.watched.close()

    def _require_pool(self) -> None:
        try:
            self._cluster.get(POOLS, self._pool)
        except ClusterError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            raise ConfigurationError(
                f"{error}\nThere is no warm pool {self._pool!r}. Name another with ?pool=…, or, where agent-sandbox is "
                f"installed, make it: helm install pluriverse deploy/kubernetes --namespace {self._cluster.namespace} "
                "--set way=sandbox"
            ) from error

    def _claim(self, name: str) -> Manifest:
        metadata: Manifest = {
            "name": name,
            "labels": {"app.kubernetes.io/name": "pluriverse", MANAGER: self._manager},
            "annotations": {OWNER: this_process()},
        }
        pod, uid = os.environ.get(POD_NAME), os.environ.get(POD_UID)
        if pod and uid:
            metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid}]
        return {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "SandboxClaim",
            "metadata": metadata,
            "spec": {
                "warmPoolRef": {"name": self._pool},
                "lifecycle": {"shutdownTime": self._expires(), "shutdownPolicy": "Delete"},
            },
        }

    def _expires(self) -> str:
        return (self._cluster.now() + timedelta(seconds=TTL_S)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _keep(self) -> None:
        """Put off the end of all claims, again and again."""
        while not self._closed.wait(RENEW_S):
            with self._lock:
                names = list(self._names)
            for name in names:
                try:
                    self._cluster.patch(CLAIMS, name, {"spec": {"lifecycle": {"shutdownTime": self._expires()}}})
                except ClusterError as error:
                    log.warning("the sandbox claim %s can't be renewed: %s", name, error)
