"""From samples to readings: what is read only counts once it is sure, plausible, and the same for long enough. Pure."""

from __future__ import annotations

from typing import Final

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import Source

from .reading import Reading, Sample, State

# Beyond this a float no longer tells two neighbouring integers apart, and a difference of two is no score.
MAX_VALUE: Final = 2.0**53


class Settler:
    """One source's samples, in the order in which they were read.

    A value that isn't plausible is never believed within an episode, however long it is read: a score that leaps needs
    a larger ``max_jump``. The first value of an episode has nothing to be compared with but ``min`` and ``max``.
    """

    def __init__(self, table: Source) -> None:
        self._table = table
        self._bounded = any(bound is not None for bound in (table.min, table.max, table.max_jump, table.monotonic))
        self.reset()

    def reset(self) -> None:
        """Forget what was read: another episode is played from here."""
        self._value: Value = None
        self._at = 0.0
        self._next: Value = None
        self._next_at = 0.0
        self._agreed = 0

    def feed(self, sample: Sample) -> Reading:
        """What counts after ``sample``. Its events count whatever has become of its value."""
        state = self._judge(sample)
        if state is State.OK and not _same(sample.value, self._value):
            state = self._agree(sample)
        else:
            self._agreed = 0
        return Reading(self._value, self._at, state, sample, sample.events)

    def feed_between(self, sample: Sample) -> Reading:
        """What counts between episodes: any value, as long as it is there."""
        reading = self.feed(sample)
        # There is nothing to compare with; and a score that ended an episode would else end the next, unseen.
        if reading.state in (State.IMPLAUSIBLE, State.NOTHING):
            self.reset()
            reading = self.feed(sample)
        return reading

    def _judge(self, sample: Sample) -> State:
        """OK where the sample could count by itself."""
        if sample.value is None:
            return State.NOTHING
        if sample.lag_s * 1000 > self._table.budget_ms:
            return State.LATE
        if not sample.confidence >= self._table.confidence:
            return State.UNSURE
        return State.OK if self._plausible(sample.value) else State.IMPLAUSIBLE

    def _plausible(self, value: Value) -> bool:
        table, last = self._table, self._value
        if not isinstance(value, (int, float)):
            return not self._bounded
        # Not a number compares as false with everything, and so is never within the bounds.
        if not -MAX_VALUE <= value <= MAX_VALUE:
            return False
        if (table.min is not None and value < table.min) or (table.max is not None and value > table.max):
            return False
        if not isinstance(last, (int, float)):
            return True
        if table.max_jump is not None and abs(value - last) > table.max_jump:
            return False
        return not ((table.monotonic == "up" and value < last) or (table.monotonic == "down" and value > last))

    def _agree(self, sample: Sample) -> State:
        if not self._agreed or not _same(sample.value, self._next):
            self._next, self._next_at, self._agreed = sample.value, sample.at, 0
        self._agreed += 1
        if self._agreed < self._table.agree:
            return State.UNSETTLED
        self._value, self._at, self._agreed = self._next, self._next_at, 0
        return State.OK


def _same(one: Value, other: Value) -> bool:
    # 1 == True, and a template that is there is no score of 1.
    return one == other and isinstance(one, bool) == isinstance(other, bool)
