"""What one ``[[rewards]]`` table makes of its source's readings, and since when conditions hold. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pluriverse_server.manifest.conditions import Value, holds, names_in
from pluriverse_server.manifest.game import RewardTable

from .reading import Reading

# Reward for time is told so often: agents act at most some tens of times a second, and the sum is the same.
TELL_TIME_S: Final = 0.1

Readings = Mapping[str, Reading]


@dataclass(frozen=True, slots=True)
class Earned:
    """An amount of reward; ``at`` is when what earned it was first seen, UNIX seconds."""

    amount: float
    at: float


class Watch:
    """A condition, and since when it has been as it is: since what made it so was first seen, UNIX seconds."""

    def __init__(self, condition: str | None) -> None:
        self.holds = condition is None
        self.since = 0.0
        self._condition = condition
        self._names = names_in(condition) if condition is not None else frozenset[str]()

    def see(self, readings: Readings, values: Mapping[str, Value]) -> None:
        """Look at it again."""
        if self._condition is None:
            return
        now = holds(self._condition, values)
        if now != self.holds:
            self.holds = now
            self.since = max((readings[name].at for name in self._names if name in readings), default=0.0)

    def held_at(self, at: float) -> bool:
        """Whether it held then; for times since it last changed but once."""
        return self.holds if at >= self.since else not self.holds


class Earnings:
    """One rewards table in one episode, which began at ``begun``. ``by_line``: its source's events are what counts."""

    def __init__(self, table: RewardTable, *, by_line: bool, begun: float) -> None:
        self.source = table.source
        self.give = table.give
        self.when = Watch(table.when)
        self._scale = table.scale
        self._by_line = by_line
        self._begun = begun
        self._first = True
        self._value = table.begins
        self._held = False
        self._seen_at = self._told_at = begun
        self._seconds = 0.0

    def earn(self, at: float, reading: Reading) -> Earned | None:
        """What ``reading`` earns in the cycle of ``at``; ``when`` has been looked at."""
        if self.give == "second":
            return self._earn_time(at, reading)
        if self.give == "event" and self._by_line:
            # Lines that are read together with the first frame were written on the way to it.
            first, self._first = self._first, False
            return self._give(reading.events, reading.sample.at) if reading.sample and not first else None
        now = _number(reading.value) if self.give != "event" else _truth(reading.value)
        before, self._value = self._value, now if now is not None else self._value
        if before is None or now is None or self.give == "end":
            return None
        return self._give(max(now - before, 0.0) if self.give == "event" else now - before, reading.at)

    def finish(self) -> float:
        """What the episode's end earns: the value itself, or the time that hasn't been told."""
        if self.give == "end":
            return self._scale * (self._value or 0.0) if self.when.holds else 0.0
        seconds, self._seconds = self._seconds, 0.0
        return self._scale * seconds

    def _give(self, amount: float, at: float) -> Earned | None:
        # What was already there when the episode began is where it counts from, even if it was only then settled.
        if not amount or at < self._begun or not self.when.held_at(at):
            return None
        return Earned(self._scale * amount, at)

    def _earn_time(self, at: float, reading: Reading) -> Earned | None:
        if self._held:
            self._seconds += max(at - self._seen_at, 0.0)
        self._held = bool(reading.value) and self.when.holds
        self._seen_at = at
        if not self._seconds or at - self._told_at < TELL_TIME_S:
            return None
        seconds, self._seconds, self._told_at = self._seconds, 0.0, at
        return Earned(self._scale * seconds, at)


def _number(value: Value) -> float | None:
    return value if isinstance(value, (int, float)) else None


def _truth(value: Value) -> float | None:
    return None if value is None else float(bool(value))
