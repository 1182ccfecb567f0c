"""Who may be the agent: the holder of the lease, if any; no new agent while the remote drains."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from pluriverse_server.access import audit
from pluriverse_server.access.lease import Lease
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.access.tokens import RIGHTS, Right, Token
from pluriverse_server.tasks import call_later

from .sessions import Sessions

log = logging.getLogger(__name__)

DRAINING: Final = "the remote is draining and accepts no new agents"
LEASED: Final = "another agent has a lease on this remote"
PLAYED: Final = "an agent is playing without a lease"
TAKEN_AWAY: Final = "the token of this connection is no longer valid"

# A lease that is found to have ended so long ago is given as long again.
LATE_S: Final = 1.0

# Where an action is of the remote's own doing.
HERE: Final = "the remote"


class Unavailable(Exception):
    """No remote is free now; ``free_in_s``: when one may be, if known."""

    def __init__(self, reason: str, free_in_s: float | None = None) -> None:
        super().__init__(reason)
        self.free_in_s = free_in_s


class Leases:
    def __init__(self, sessions: Sessions, secrets: Secrets) -> None:
        self.draining = False  # then no new agents are taken
        self.lease: Lease | None = None
        self._sessions = sessions
        self._secrets = secrets
        self._timer: asyncio.TimerHandle | None = None
        secrets.on_change.append(lambda: sessions.expel(lambda who: not secrets.rights(who), TAKEN_AWAY))

    def why_not(self, who: Token) -> str | None:
        if self.draining:
            return DRAINING
        if Right.PLAY in self._secrets.rights(who):
            return None
        return LEASED if Right.PLAY in RIGHTS[who.role] else f"not permitted: this is the token of {who}"

    def claim(self, by: Token, ttl_s: float, *, where: str) -> Lease:
        now = self._now()
        if self.draining:
            raise Unavailable(DRAINING)
        if self.lease is not None:
            raise Unavailable(LEASED, self.lease.left_s(now))
        if self._sessions.occupied:
            raise Unavailable(PLAYED)
        lease = self.lease = Lease(by, ttl_s, now + ttl_s)
        self._secrets.begin_lease(lease.token)
        self._watch(lease)
        audit.note("lease taken", by, where, lease=lease.id, ttl_s=ttl_s)
        log.info("%s has taken lease %s from %s", by, lease.id, where)
        return lease

    def renew(self, lease: Lease) -> None:
        lease.renew(self._now())

    def give_back(self, lease: Lease, by: Token, where: str) -> None:
        self._end(lease, "lease given back", by, where)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _watch(self, lease: Lease) -> None:
        self._timer = call_later(lease.left_s(self._now()), "lease", self._check, lease)

    def _check(self, lease: Lease) -> None:
        now = self._now()
        if now - lease.until > LATE_S:
            # This process had no turn. Renewals that have come meanwhile are yet to be read.
            lease.until = now + LATE_S
        if lease.left_s(now) > 0:
            self._watch(lease)
        else:
            self._end(lease, "lease expired", lease.token, HERE)

    def _end(self, lease: Lease, how: str, by: Token, where: str) -> None:
        if lease is not self.lease:
            return
        self.stop()
        self.lease = None
        self._sessions.expel(lambda who: who == lease.token, f"the lease has ended: {how}")
        self._secrets.end_lease()
        audit.note(how, by, where, lease=lease.id)
        log.info("%s: %s", how, lease.id)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
