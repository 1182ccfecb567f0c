"""Remotes of a cluster as an engine: finds a place for each, and leases the remote in it."""

from __future__ import annotations

import os
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes.address import REWARDER_PORT, VNC_PORT, Address
from pluriverse.remotes.engine import Engine, EngineOptions
from pluriverse.remotes.lease import LeaseKeeper, Taken
from pluriverse.remotes.parse import PASSWORD_VARIABLE
from pluriverse.tls import TlsOptions, fingerprint

from .claims import Claims
from .cluster import Cluster
from .place import Place
from .pods import Pods

# A node may have to be started, and the image to be fetched.
WAIT_S: Final = 300.0

HOW: Final = ("claims", "pods")

# A remote whose pod is ready may not be reached in the first seconds; one that doesn't let us in never does.
TRIES: Final = 8

SECRET: Final = (
    "mount the Secret pluriverse-fleet into this pod, and pass its key: ?token=/run/secrets/pluriverse/token"  # noqa: S105
)
HINT: Final = (
    "Only pods with the label pluriverse/role: trainer reach remotes; and the token must be the one in the Secret "
    "pluriverse-fleet that the remotes were started with."
)


@dataclass(frozen=True, kw_only=True)
class KubernetesOptions(EngineOptions):
    """``how``: ``claims`` from the warm ``pool``, or free ``pods`` that have the labels of ``selector``.

    ``namespace`` and ``context`` are those of the configuration unless they are named. ``token``: the file with the
    fleet's token, which else is in $PLURIVERSE_PASSWORD. ``tls``: a file with the certificate (PEM) that remotes have,
    all of them; their screens then come by ``port``, too. ``wait``: for how many seconds to wait for a place.
    """

    how: str = "claims"
    namespace: str | None = None
    context: str | None = None
    pool: str | None = None
    selector: str | None = None
    token: str | None = None
    tls: str | None = None
    port: int = REWARDER_PORT
    vnc_port: int = VNC_PORT
    wait: float = WAIT_S

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.how not in HOW:
            raise ValueError(f"how is {self.how!r}, expected one of: {', '.join(HOW)}")
        if self.how == "pods" and self.pool is not None:
            raise ValueError("pool needs how=claims; select pods by their labels: selector=…")
        if self.how == "claims" and self.selector is not None:
            raise ValueError("selector needs how=pods; sandboxes come from a pool: pool=…")


class KubernetesEngine(Engine[Place]):
    Options = KubernetesOptions
    # So many requests to the API server at once, when all is given back.
    STOPPED_AT_ONCE = 16

    def __init__(self, runtime: str, env_id: str, options: KubernetesOptions) -> None:
        """Watch the places; raise ``ConfigurationError`` if there is no cluster, no pool, no right or no token."""
        del env_id  # the agent's reset sends it
        self._options = options
        self._address("")
        self._cluster = Cluster(options.namespace, options.context)
        try:
            if options.how == "claims":
                self._places = Claims(self._cluster, options.pool or f"pluriverse-{runtime}")
            else:
                labels = f"app.kubernetes.io/name=pluriverse,pluriverse/runtime={runtime}"
                self._places = Pods(self._cluster, options.selector or labels)
        except ConfigurationError:
            self._cluster.close()
            raise
        self.what = self._places.what
        self._keeper = LeaseKeeper()

    def make(self) -> Place:
        """Claim a sandbox, or make ready to look for a pod."""
        return self._places.make(self._keeper)

    def begin(self, remote: Place) -> None:
        """Wait for a place with a free remote, and lease it."""
        deadline = time.monotonic() + self._options.wait
        silent = 0
        while True:
            host = remote.find(deadline)
            try:
                remote.claim(self._address(host))
            except ConfigurationError as error:
                raise RemoteUnavailable(str(error)) from error
            except RemoteUnavailable as error:
                remote.refused()
                if isinstance(error, Taken):
                    if time.monotonic() > deadline:
                        raise
                elif (silent := silent + 1) == TRIES:
                    raise RemoteUnavailable(f"{error}\n{HINT}") from error
            else:
                return

    def _address(self, host: str) -> Address:
        options = self._options
        tls = self._pinned()
        return Address(host, options.vnc_port if tls is None else None, options.port, self._token(), tls=tls)

    def _pinned(self) -> TlsOptions | None:
        """Return whom to trust: pods come and go with their addresses, which no authority vouches for."""
        if self._options.tls is None:
            return None
        try:
            # The remotes' own comes before those that signed it.
            own, end, _ = Path(self._options.tls).read_text().partition(ssl.PEM_FOOTER)
            return TlsOptions(fingerprint=fingerprint(ssl.PEM_cert_to_DER_cert(own + end)))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"the remotes' certificate can't be read: {error}") from error

    def _token(self) -> str:
        file = self._options.token
        try:
            token = os.environ.get(PASSWORD_VARIABLE) if file is None else Path(file).read_text().strip()
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"the fleet's token can't be read: {error}; {SECRET}") from error
        if not token:
            raise ConfigurationError(f"there is no token of the fleet in {file or '$' + PASSWORD_VARIABLE}; {SECRET}")
        return token

    def close(self) -> None:
        self._keeper.close()
        self._places.close()
        self._cluster.close()
