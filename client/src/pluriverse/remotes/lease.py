"""Leases: the right to play on a remote alone, which ends unless it is renewed. The remotes give them themselves."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from pluriverse.errors import RemoteUnavailable

from .address import Address
from .http_request import Answer, ask

TTL_S: Final = 30.0

# Renewals that are under way at once: remotes that don't answer hold up no others.
RENEWERS: Final = 16

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
    """Why it ended by itself; None while it lasts, as far as a ``LeaseKeeper`` knows."""

    def renew(self) -> None:
        """Let it last for its whole time again."""
        answer = ask(self.address, "POST", f"/lease/{self.id}")
        if answer.status in GONE:
            raise LeaseLost(f"the lease on {self.address} has ended: {answer.error}")
        _require_ok(answer, self.address)

    def release(self) -> None:
        """Give it back. A remote that doesn't answer, or whose lease has ended, is left as it is."""
        with contextlib.suppress(RemoteUnavailable):
            ask(self.address, "DELETE", f"/lease/{self.id}")


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


class LeaseKeeper:
    """Renews any number of leases, each three times within its time, until it is closed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._closed = False
        # With the time at which each was last known to last.
        self._kept: dict[Lease, float] = {}
        # When each is renewed next; the number keeps leases from being compared.
        self._due: list[tuple[float, int, Lease]] = []
        self._numbers = itertools.count()
        self._pool = ThreadPoolExecutor(RENEWERS, thread_name_prefix="pluriverse: lease")
        threading.Thread(target=self._run, name="pluriverse: leases", daemon=True).start()

    def add(self, lease: Lease) -> None:
        """Renew a lease from now on, until it is lost: ``Lease.lost`` is then the reason."""
        with self._changed:
            self._kept[lease] = time.monotonic()
            self._plan(lease)

    def remove(self, lease: Lease) -> None:
        """Renew it no more. It isn't given back."""
        with self._changed:
            self._kept.pop(lease, None)

    def close(self) -> None:
        """Renew none any more; may be called repeatedly."""
        with self._changed:
            self._closed = True
            self._kept.clear()
            self._changed.notify()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _plan(self, lease: Lease) -> None:
        heapq.heappush(self._due, (time.monotonic() + lease.ttl_s / 3, next(self._numbers), lease))
        self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (not self._due or self._due[0][0] > time.monotonic()):
                    self._changed.wait(self._due[0][0] - time.monotonic() if self._due else None)
                if self._closed:
                    return
                _, _, lease = heapq.heappop(self._due)
                if lease in self._kept:
                    try:
                        self._pool.submit(self._renew, lease)
                    except RuntimeError:
                        return  # Python exits

    def _renew(self, lease: Lease) -> None:
        began = time.monotonic()
        lost: str | None = None
        lasts = False
        try:
            lease.renew()
            lasts = True
        except RemoteUnavailable as error:
            # One that doesn't answer may do so again.
            known_at = self._kept.get(lease, began)
            if isinstance(error, LeaseLost) or time.monotonic() - known_at > lease.ttl_s:
                lost = str(error)
        with self._changed:
            if lease not in self._kept:
                return
            if lost is not None:
                lease.lost = lost
                del self._kept[lease]
                return
            if lasts:
                self._kept[lease] = began
            self._plan(lease)
