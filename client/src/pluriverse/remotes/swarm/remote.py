"""One remote of a swarm."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.docker import ENGINE_ERRORS, explained
from pluriverse.remotes.lease import Lease, LeaseKeeper, claim

from .tasks import task_of

# A killed agent's remotes are free again after so long.
LEASE_S: Final = 30.0

# What a remote said before it ended.
OUTPUT_LINES: Final = 20


class SwarmRemote:
    """A task that this process has a lease on. ``service``: the one that was started for it alone."""

    def __init__(self, client: Any, keeper: LeaseKeeper, service: str | None = None) -> None:
        self.service = service
        self._client = client
        self._keeper = keeper
        self.task = ""
        self._lease: Lease | None = None
        self.is_stopped = False

    def claim(self, address: Address) -> None:
        """Take a lease on it, or raise ``RemoteUnavailable``."""
        # One that was started for this process ends with it.
        self._lease = claim(address, LEASE_S, ends=self.service is not None)
        self._keeper.add(self._lease)

    @property
    def address(self) -> Address:
        """Where it is, once it has begun."""
        if self._lease is None:
            raise RemoteUnavailable("the remote has not begun")
        return self._lease.address

    def require_running(self) -> None:
        """Raise RemoteUnavailable, with what the swarm says of it, unless it runs."""
        with explained("the task is gone"):
            task = task_of(self._client.inspect_task(self.task))
        if not task.is_running:
            raise RemoteUnavailable(f"the task {task.id} has ended: {task.state}, {task.message}{self._last_output()}")
        if self._lease is not None and self._lease.lost is not None:
            raise RemoteUnavailable(self._lease.lost)

    def stop(self) -> None:
        """Give it back, or remove what was started for it."""
        self.is_stopped = True
        lease, self._lease = self._lease, None
        if lease is not None:
            self._keeper.remove(lease)
            lease.release()
        if self.service is not None:
            remove_service(self._client, self.service)

    def _last_output(self) -> str:
        """Return what it wrote before it ended, where it has a service of its own: a swarm tells it by service."""
        if self.service is None:
            return ""
        with contextlib.suppress(*ENGINE_ERRORS):
            # Pieces as they come, though the SDK's documentation has them joined.
            pieces = self._client.service_logs(self.service, stdout=True, stderr=True, tail=OUTPUT_LINES)
            written = b"".join(pieces).decode(errors="replace").strip()
            return f"; its last output:\n{written}" if written else ""
        return ""


def remove_service(client: Any, service: str) -> None:
    """Remove a service, if it is there."""
    # It may be gone already, or the swarm: then the end of its lease ends it.
    with contextlib.suppress(*ENGINE_ERRORS):
        client.remove_service(service)
