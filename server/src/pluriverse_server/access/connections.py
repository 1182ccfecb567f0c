"""Which connections to keep where there are more than can be served."""

from __future__ import annotations

from collections import Counter
from typing import Final, Generic, TypeVar

_T = TypeVar("_T")

# How often a line is logged about connections that were dropped.
LOG_EVERY_S: Final = 10.0


class ConnectionTable(Generic[_T]):
    """The connections of one port, each with its address; those that haven't given the password yet are pending."""

    def __init__(self, *, max_pending: int, max_connections: int, max_per_address: int) -> None:
        """Allow ``max_pending`` connections without, and of those with the password so many, in all and by address."""
        self._max_pending = max_pending
        self._max_connections = max_connections
        self._max_per_address = max_per_address
        # In the order in which they came.
        self._pending: dict[_T, str] = {}
        self._let_in: dict[_T, str] = {}
        self.dropped: int = 0
        """How many were dropped while they were pending, or turned away."""
        self._unlogged = 0
        self._logged_at: float | None = None

    def __len__(self) -> int:
        return len(self._pending) + len(self._let_in)

    @property
    def let_in(self) -> int:
        return len(self._let_in)

    def add(self, connection: _T, address: str) -> _T | None:
        """Count a connection as pending; return the pending one to drop for it, if there are too many.

        That is the oldest one of the address that has most of them: one who floods drives out himself.
        """
        self._pending[connection] = address
        if len(self._pending) <= self._max_pending:
            return None
        ((busiest, _),) = Counter(self._pending.values()).most_common(1)
        oldest = next(each for each, its in self._pending.items() if its == busiest)
        del self._pending[oldest]
        self._count_dropped()
        return oldest

    def admit(self, connection: _T) -> bool:
        """Count a pending connection as let in; return False if there are too many, or it was dropped meanwhile."""
        address = self._pending.pop(connection, None)
        if address is None:
            return False
        of_address = sum(its == address for its in self._let_in.values())
        if len(self._let_in) >= self._max_connections or of_address >= self._max_per_address:
            self._count_dropped()
            return False
        self._let_in[connection] = address
        return True

    def remove(self, connection: _T) -> None:
        self._pending.pop(connection, None)
        self._let_in.pop(connection, None)

    def to_log(self, now: float) -> int:
        """Return how many were dropped since the last line about them; 0: it isn't time for another one yet."""
        if not self._unlogged or (self._logged_at is not None and now - self._logged_at < LOG_EVERY_S):
            return 0
        count, self._unlogged, self._logged_at = self._unlogged, 0, now
        return count

    def _count_dropped(self) -> None:
        self.dropped += 1
        self._unlogged += 1
