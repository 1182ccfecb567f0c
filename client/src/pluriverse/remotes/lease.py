"""Leases: the right to play on a remote alone, which ends unless it is renewed. The remotes give them themselves."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Final

from pluriverse.errors import RemoteUnavailable

from .address import Address
from .http_request import Answer, ask

TTL_S: Final = 30.0

OK: Final = 200
CONFLICT: Final = 409

# The remote knows the lease no more. One that has been restarted answers 401, and so does one that somebody at our
# address sends wrong passwords: that is asked again until the lease must have ended.
GONE: Final = (403, 404, 410)


class Taken(RemoteUnavailable):
    """Another client plays on the remote, or has a lease on it; ``free_in_s``: until that ends, if known."""

    def __init__(self, message: str, free_in_s: float | None) -> None:
        super().__init__(message)
        self.free_in_s = free_in_s


class LeaseLost(RemoteUnavailable):
    """The lease has ended: it was not renewed in time, or the remote has been restarted."""


@dataclass(eq=False, slots=True)
class Lease:
    """A lease on a remote. ``address`` has the lease's token as its password, good for all ports while it lasts."""

    address: Address
    id: str
    ttl_s: float
    env_id: str | None
    lost: str | None = None
    """Why it ended by itself; None while it lasts, as far as ``keep`` knows."""
    _released: threading.Event = field(default_factory=threading.Event, init=False, repr=False)

    def renew(self) -> None:
        """Let it last for its whole time again."""
        answer = ask(self.address, "POST", f"/lease/{self.id}")
        if answer.status in GONE:
            raise LeaseLost(f"the lease on {self.address} has ended: {answer.error}")
        _require_ok(answer, self.address)

    def keep(self) -> None:
        """Renew it three times within its time, until it is released or ``lost``."""
        # A thread for each: remotes that don't answer hold up no others.
        threading.Thread(target=self._keep, name="pluriverse: lease", daemon=True).start()

    def release(self) -> None:
        """Give it back. A remote that doesn't answer, or whose lease has ended, is left as it is."""
        self._released.set()
        with contextlib.suppress(RemoteUnavailable):
            ask(self.address, "DELETE", f"/lease/{self.id}")

    def _keep(self) -> None:
        known_at = time.monotonic()
        while not self._released.wait(self.ttl_s / 3):
            began = time.monotonic()
            try:
                self.renew()
                known_at = began
            except RemoteUnavailable as error:
                # One that doesn't answer may do so again.
                if isinstance(error, LeaseLost) or time.monotonic() - known_at > self.ttl_s:
                    if not self._released.is_set():
                        self.lost = str(error)
                    return


def claim(address: Address, ttl_s: float = TTL_S) -> Lease:
    """Claim a remote for ``ttl_s`` seconds (5 to 600), and for as long as the lease is renewed.

    ``address`` has the remote's password, or the token of an agent or an operator.
    """
    answer = ask(address, "POST", "/lease", {"ttl_s": ttl_s})
    if answer.status == CONFLICT:
        raise Taken(f"the remote at {address} is in use: {answer.error}", answer.document.get("free_in_s"))
    _require_ok(answer, address)
    try:
        given = answer.document
        token, lease_id, lasts_s = str(given["token"]), str(given["lease"]), float(given["ttl_s"])
        return Lease(replace(address, password=token), lease_id, lasts_s, given.get("env_id"))
    except (KeyError, TypeError, ValueError) as error:
        raise RemoteUnavailable(f"the remote at {address} sent an invalid lease ({error!r})") from None


def _require_ok(answer: Answer, address: Address) -> None:
    if answer.status != OK:
        raise RemoteUnavailable(f"the remote at {address} granted no lease: {answer.error}")
