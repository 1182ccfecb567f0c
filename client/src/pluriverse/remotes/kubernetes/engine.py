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
from pluriverse.remotes.lease import Taken
from pluriverse.remotes.parse import PASSWORD_VARIABLE
from pluriverse.tls import TlsOptions, fingerprint

from .cluster import Cluster
from .pods import Pod, Pods

# A node may have to be started, and the image to be fetched.
WAIT_S: Final = 300.0

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
    """``selector``: the labels of the pods that may be taken.

    ``namespace`` and ``context`` are those of the configuration unless they are named. ``token``: the file with the
    fleet's token, which else is in $PLURIVERSE_PASSWORD. ``tls``: a file with the certificate (PEM) that remotes have,
    all of them; their screens then come by ``port``, too. ``wait``: for how many seconds to wait for a place.
    """

    namespace: str | None = None
    context: str | None = None
    selector: str | None = None
    token: str | None = None
    tls: str | None = None
    port: int = REWARDER_PORT
    vnc_port: int = VNC_PORT
    wait: float = WAIT_S


class KubernetesEngine(Engine[Pod]):
    Options = KubernetesOptions
    # So many requests to the API server at once, when all is given back.
    STOPPED_AT_ONCE = 16

    def __init__(self, runtime: str, env_id: str, options: KubernetesOptions) -> None:
        """List the pods; raise ``ConfigurationError`` if there is no cluster, no right or no token."""
        del env_id  # the agent's reset sends it
        self._options = options
        self._address("")
        self._cluster = Cluster(options.namespace, options.context)
        labels = f"app.kubernetes.io/name=pluriverse,pluriverse/runtime={runtime}"
        try:
            self._pods = Pods(self._cluster, options.selector or labels)
        except ConfigurationError:
            self._cluster.close()
            raise
        self.what = self._pods.what

    def make(self) -> Pod:
        """Make ready to look for a pod."""
        return Pod(self._pods)

    def begin(self, remote: Pod) -> None:
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
        self._cluster.close()
