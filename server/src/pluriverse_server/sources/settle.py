"""Samples become readings once they are certain, plausible, and repeated often enough. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import Source

from .reading import Reading, ReadingState, Sample

# Beyond this floats can't represent every integer, so that differences would be wrong.
MAX_VALUE: Final = 2.0**53

# A source of rewards that changes in each frame never settles; an episode begins without it after this time, and what
# the sources need to settle by their tables.
SETTLE_S: Final = 0.25

# Times are sums of frames, in floats that count from 1970.
_EARLY_S: Final = 1e-5


class Settler:
    """Judges one source's samples in the order in which they were read.

    An implausible value is never accepted within an episode, however often it is read: a score that leaps needs a
    larger ``max_jump``. An episode's first value is only compared with ``min`` and ``max``. A value with ``settles``
    counts since the first that differed from the one before, others since they were first read.
    """

    def __init__(self, table: Source) -> None:
        self._table = table
        self._settles_s = table.settles_s
        self._bounded = any(bound is not None for bound in (table.min, table.max, table.max_jump, table.monotonic))
        self.reset()

    def reset(self) -> None:
        self._value: Value = None
        self._at = 0.0
        self._forget_next()

    def _forget_next(self) -> None:
        self._next: Value = None
        self._next_at = 0.0
        self._agreed = 0
        self._changed_at: float | None = None

    @property
    def settles(self) -> bool:
        return self._settles_s > 0

    def has_settled(self, at: float) -> bool:
        """Return whether the value that counts at the time ``at`` may be an episode's first.

        It isn't where others have been about to settle for longer than that takes, as of what changes in each frame.
        """
        return self._changed_at is None or at - self._changed_at < self._settles_s

    def feed(self, sample: Sample) -> Reading:
        """Return the reading after ``sample``. Its events count even if its value doesn't."""
        state = self._judge(sample)
        if state is ReadingState.OK and not _same(sample.value, self._value):
            state = self._agree(sample)
        elif state is ReadingState.OK:
            self._forget_next()
        else:
            self._agreed = 0
            if state is ReadingState.IMPLAUSIBLE:
                self._next = None
            elif self._changed_at is not None and self._settles_s:
                state = ReadingState.UNSETTLED
        return Reading(self._value, self._at, state, sample, sample.events)

    def feed_between(self, sample: Sample) -> Reading:
        """Return the reading between episodes, when any value is plausible."""
        reading = self.feed(sample)
        # Earlier values mean nothing here; and a score that ended an episode must not end the next one too.
        if reading.state in (ReadingState.IMPLAUSIBLE, ReadingState.NOTHING):
            self.reset()
            reading = self.feed(sample)
        return reading

    def keep(self) -> tuple[Any, ...]:
        """Return what this knows, for ``go_back``."""
        return self._value, self._at, self._next, self._next_at, self._agreed, self._changed_at

    def go_back(self, kept: tuple[Any, ...]) -> None:
        self._value, self._at, self._next, self._next_at, self._agreed, self._changed_at = kept

    def _judge(self, sample: Sample) -> ReadingState:
        if sample.value is None:
            return ReadingState.NOTHING
        if sample.lag_s * 1000 > self._table.budget_ms:
            return ReadingState.LATE
        if not sample.confidence >= self._table.confidence:
            return ReadingState.UNSURE
        return ReadingState.OK if self._plausible(sample.value) else ReadingState.IMPLAUSIBLE

    def _plausible(self, value: Value) -> bool:
        table, last = self._table, self._value
        if not isinstance(value, (int, float)):
            return not self._bounded
        # NaN is never within the bounds.
        if not -MAX_VALUE <= value <= MAX_VALUE:
            return False
        if (table.min is not None and value < table.min) or (table.max is not None and value > table.max):
            return False
        if not isinstance(last, (int, float)):
            return True
        if table.max_jump is not None and abs(value - last) > table.max_jump:
            return False
        return not ((table.monotonic == "up" and value < last) or (table.monotonic == "down" and value > last))

    def _agree(self, sample: Sample) -> ReadingState:
        # Missing readings in between don't mean that the value has changed; but torn frames must not add up.
        if not _same(sample.value, self._next) or not (self._agreed or self._settles_s):
            self._next, self._next_at, self._agreed = sample.value, sample.at, 0
        self._agreed += 1
        if self._changed_at is None:
            self._changed_at = sample.at
        if self._agreed < self._table.agree or sample.at - self._next_at < self._settles_s - _EARLY_S:
            return ReadingState.UNSETTLED
        self._value, self._at = self._next, self._changed_at if self._settles_s else self._next_at
        self._forget_next()
        return ReadingState.OK


class Settlers:
    def __init__(self, tables: Mapping[str, Source]) -> None:
        self._settlers = {name: Settler(table) for name, table in tables.items()}
        self._playing = False

    def begin(self, settled_at: float | None = None) -> set[str]:
        """Begin an episode. ``settled_at``: what has to settle has done so by then, and already is the episode's.

        Return those that had to settle by then, and hadn't.
        """
        self._playing = True
        unsettled: set[str] = set()
        for name, settler in self._settlers.items():
            if settled_at is not None and settler.settles:
                if settler.has_settled(settled_at):
                    continue
                unsettled.add(name)
            settler.reset()
        return unsettled

    def leave(self) -> None:
        self._playing = False

    def keep(self) -> object:
        """Return what all know, for ``go_back``."""
        return self._playing, {name: settler.keep() for name, settler in self._settlers.items()}

    def go_back(self, kept: Any) -> None:
        self._playing, settlers = kept
        for name, settler in self._settlers.items():
            settler.go_back(settlers[name])

    def feed(self, name: str, sample: Sample) -> Reading:
        settler = self._settlers[name]
        return settler.feed(sample) if self._playing else settler.feed_between(sample)


def _same(one: Value, other: Value) -> bool:
    # True == 1, but a template that was found is not a score of 1.
    return one == other and isinstance(one, bool) == isinstance(other, bool)
