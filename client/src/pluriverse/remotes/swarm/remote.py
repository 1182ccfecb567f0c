"""One remote of a swarm."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from pluriverse.remotes.address import hide_password
from pluriverse.remotes.docker import ENGINE_ERRORS
from pluriverse.remotes.lease import Leased, LeaseKeeper

from .tasks import task_of

# What a remote said before it ended.
OUTPUT_LINES: Final = 20


class SwarmRemote(Leased):
    """A task that this process has a lease on.

    ``service``: the one that was started for it alone, with ``password``.
    """

    def __init__(
        self, keeper: LeaseKeeper, client: Any, service: str | None = None, password: str | None = None
    ) -> None:
        super().__init__(keeper)
        self.service = service
        self._password = password
        self.task = ""
        self._client = client

    def why_gone(self) -> str | None:
        """Return what the swarm says of it unless it runs."""
        try:
            task = task_of(self._client.inspect_task(self.task))
        except ENGINE_ERRORS as error:
            return f"the task is gone: {error}"
        if task.is_running:
            return None
        return f"the task {task.id} has ended: {task.state}, {task.message}{self._last_output()}"

    def give_back(self) -> None:
        """Let others claim it, or remove what was started for it."""
        if self.lease is not None:
            self.lease.release()
        if self.service is not None:
            remove_service(self._client, self.service)

    def _last_output(self) -> str:
        """Return what it wrote before it ended, where it has a service of its own: a swarm tells it by service."""
        if self.service is None:
            return ""
        with contextlib.suppress(*ENGINE_ERRORS):
            # Pieces as they come, though the SDK's documentation has them joined.
            pieces = self._client.service_logs(self.service, stdout=True, stderr=True, tail=OUTPUT_LINES)
            written = hide_password(b"".join(pieces).decode(errors="replace").strip(), self._password)
            return f"; its last output:\n{written}" if written else ""
        return ""


def remove_service(client: Any, service: str) -> None:
    """Remove a service, if it is there."""
    # It may be gone already, or the swarm: then the end of its lease ends it.
    with contextlib.suppress(*ENGINE_ERRORS):
        client.remove_service(service)
