"""Readings become reports: rewards, texts, observations and the end of a scraped program's episode. Pure."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace
from pluriverse_protocol import reports

from pluriverse_server.manifest.conditions import Value, describe, holds, names_in
from pluriverse_server.manifest.game import OWN_SOURCES, GameTables, RewardTable
from pluriverse_server.manifest.sources import LogSource

from .reading import MAX_TEXT_CHARS, Reading, ReadingState

# How often reward for time is reported: agents act at most some tens of times a second, and the sum is the same.
TIME_REWARD_S: Final = 0.1

# How long an end waits for sources that still settle or haven't been read since, or the last points would be lost;
# beyond what they need to settle by their tables.
MAX_HOLD_S: Final = 0.5

# The source of the program's own reports.
REPORTS: Final = "reports"

# How long the check of a task may take once its episode has ended.
CHECK_S: Final = 5.0

_UNREAD: Final = Reading()

Readings = Mapping[str, Reading]

# When a reward was first visible, UNIX seconds, and its amount.
Earned = tuple[float, float]


class Watch:
    """A condition, and since when it holds or doesn't: when its cause was first visible, UNIX seconds."""

    def __init__(self, condition: str | None) -> None:
        self.holds = condition is None
        self.since = 0.0
        self._condition = condition
        self._names = names_in(condition) if condition is not None else frozenset[str]()

    def update(self, readings: Readings, values: Mapping[str, Value]) -> None:
        if self._condition is None:
            return
        now = holds(self._condition, values)
        if now != self.holds:
            self.holds = now
            self.since = max((readings[name].at for name in self._names if name in readings), default=0.0)

    def held_at(self, at: float) -> bool:
        """Return whether it held then; correct for times since the last change but one."""
        return self.holds if at >= self.since else not self.holds


class Earnings:
    """One ``[[rewards]]`` table in an episode that began at ``begun``. ``by_line``: its source's events count."""

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
        self._seen_at = self._reported_at = begun
        self._seconds = 0.0

    def earn(self, at: float, reading: Reading) -> Earned | None:
        """Return what ``reading`` earns in the cycle of time ``at``; ``when`` must be up to date."""
        if self.give == "second":
            return self._earn_time(at, reading)
        if self.give == "event" and self._by_line:
            # Lines that are read together with the first frame were written before the episode.
            first, self._first = self._first, False
            return self._give(reading.events, reading.sample.at) if reading.sample and not first else None
        now = _number(reading.value) if self.give != "event" else _truth(reading.value)
        before, self._value = self._value, now if now is not None else self._value
        if before is None or now is None or self.give in ("end", "submit"):
            return None
        return self._give(max(now - before, 0.0) if self.give == "event" else now - before, reading.at)

    def finish(self, reason: str) -> float:
        """Return what the episode's end earns: the value itself, or the time since the last report."""
        if self.give in ("end", "submit"):
            if self.give == "submit" and reason != reports.SUBMITTED:
                return 0.0
            return self._scale * (self._value or 0.0) if self.when.holds else 0.0
        seconds, self._seconds = self._seconds, 0.0
        return self._scale * seconds

    def _give(self, amount: float, at: float) -> Earned | None:
        # What was there before the episode began earns nothing, even if it only settled afterwards.
        if not amount or at < self._begun or not self.when.held_at(at):
            return None
        return at, self._scale * amount

    def _earn_time(self, at: float, reading: Reading) -> Earned | None:
        if self._held:
            self._seconds += max(at - self._seen_at, 0.0)
        self._held = bool(reading.value) and self.when.holds
        self._seen_at = at
        if not self._seconds or at - self._reported_at < TIME_REWARD_S:
            return None
        seconds, self._seconds, self._reported_at = self._seconds, 0.0, at
        return at, self._scale * seconds


@dataclass(slots=True)
class _End:
    """An end that was seen in the cycle of ``seen_at``, the sources it waits for, and what was earned since.

    ``next_at`` is the cycle after that: sources that were read before it may have missed the program's last output.
    """

    at: float
    terminated: bool
    reason: str
    seen_at: float
    waiting: set[str]
    next_at: float = math.inf
    earned: float = 0.0
    source: str = ""
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Rules:
    """Applies a game's tables to the readings of its sources, one episode after another.

    Times are UNIX seconds. ``change`` counts from a source's first value in an episode. Once a condition of ``done`` or
    ``truncated`` holds, rewards only count if their sources hadn't settled then, or aren't on the screen and so are
    read at other times: these until their next read. The end is reported when no such source is left, or after
    ``MAX_HOLD_S`` more than they need to settle. A score that the game resets to 0 as it ends needs ``monotonic``, or
    the fall counts like any other.
    """

    def __init__(self, game: GameTables) -> None:
        self._game = game
        self._lines = {name for name, source in game.sources.items() if isinstance(source, LogSource)}
        self._on_screen = game.screen_sources.keys()
        self._hold_s = MAX_HOLD_S + game.settles_s
        self._tables = [table for table in game.rewards if table.source not in OWN_SOURCES]
        # A check may take as long as any source may.
        self._hold_s += CHECK_S if game.task is not None else 0.0
        self._ends = [(text, True, reason or text) for reason, text in game.episode.done.items()]
        self._ends += [(text, False, reason or text) for reason, text in game.episode.truncated.items()]
        self._ending_sources = frozenset[str]().union(*(names_in(text) for text, _, _ in self._ends))
        self.evidence: Callable[[], Mapping[str, Any]] = dict[str, Any]
        """What the ``info`` of an end has besides."""
        self._running = False
        self._episode = 0
        self._earnings: list[Earnings] = []
        self._watches: list[tuple[Watch, bool, str]] = []
        self._text: Value = None
        self._observation: dict[str, Value] | None = None
        self._end: _End | None = None

    def keep(self) -> object:
        """Return where the episode is, for ``go_back``."""
        return copy.deepcopy(self._state)

    def go_back(self, kept: Any, episode_id: int) -> None:
        """Be there, in this episode."""
        self._episode = episode_id
        state = copy.deepcopy(kept)
        self._running, self._earnings, self._watches, self._text, self._observation, self._end = state

    @property
    def _state(self) -> tuple[Any, ...]:
        return self._running, self._earnings, self._watches, self._text, self._observation, self._end

    def ready(self, readings: Readings) -> bool:
        """Return whether an episode can begin: ``ready`` holds, and what could end it was read and doesn't."""
        values = _values(readings)
        condition = self._game.episode.ready
        if condition is not None and not holds(condition, values):
            return False
        read = (readings.get(name, _UNREAD) for name in self._ending_sources)
        if any(reading.sample is None or reading.state is ReadingState.UNSETTLED for reading in read):
            return False
        return not any(holds(text, values) for text, _, _ in self._ends)

    def why_not_ready(self, readings: Readings) -> str:
        """Return which condition keeps an episode from beginning, as the end of a sentence; "" if none does."""
        values, condition = _values(readings), self._game.episode.ready
        if condition is not None and not holds(condition, values):
            return f": {condition!r} is not true: {describe(condition, values)}"
        ended = (text for text, _, _ in self._ends if holds(text, values))
        return next((f": {text!r} would end it at once: {describe(text, values)}" for text in ended), "")

    def begin(self, episode_id: int, at: float) -> None:
        """Begin an episode in the cycle of time ``at``, whose readings must be fed first."""
        self._episode = episode_id
        self._earnings = [Earnings(table, by_line=table.source in self._lines, begun=at) for table in self._tables]
        self._watches = [(Watch(text), terminated, reason) for text, terminated, reason in self._ends]
        self._text = self._observation = self._end = None
        self._running = True

    def feed(self, at: float, readings: Readings) -> list[reports.Report]:
        """Return the reports that follow from one cycle's readings, in order; none after the episode's end."""
        if not self._running:
            return []
        values = _values(readings)
        shown = self._texts(values)
        earned = self._earn(at, readings, values)
        end = self._end
        if end is None:
            end = self._end = self._ended(at, readings, values)
        else:
            end.next_at = min(end.next_at, at)
        if end is None:
            return shown + self._rewards(earned)
        end.earned += sum(amount for _, amount in earned)
        waiting = end.waiting & readings.keys()
        end.waiting = {name for name in waiting if self._is_pending(end, name, readings[name])}
        if end.waiting and at - end.seen_at < self._hold_s:
            return shown
        return [*shown, self._done(end)]

    def hear(self, at: float, report: reports.Report) -> list[reports.Report]:
        """Return what follows from what the program itself reported, heard before the cycle of time ``at``.

        What it earns is reward beside that of the sources, unless the episode had ended by then. Its end is one as by a
        condition of ``done``: sources that haven't settled are waited for.
        """
        if not self._running:
            return []
        match report:
            case reports.Reward(at=earned_at):
                late = self._end is not None and (earned_at is None or earned_at > self._end.at)
                return [] if late else [replace(report, source=REPORTS)]
            case reports.Done(reward=earned):
                said: list[reports.Report] = []
                if earned:
                    said.append(reports.Reward(report.episode, earned, report.at, source=REPORTS))
                if self._end is None:
                    ended_at = at if report.at is None else report.at
                    self._end = _End(ended_at, report.terminated, report.reason, at, self._rewarded())
                    self._end.source, self._end.info = REPORTS, report.info
                return said
            case reports.Text() | reports.Observation():
                return [report]
            case _:
                return []

    @property
    def submitted(self) -> bool:
        return self._end is not None and self._end.reason == reports.SUBMITTED

    def submit(self, at: float) -> None:
        """End the episode as its agent says at ``at`` that it is done; what that earns is read first."""
        self.hear(at, reports.Done(self._episode, reason=reports.SUBMITTED))

    def cut(self, at: float, reason: str, *, failed: bool = False) -> list[reports.Report]:
        """Truncate the episode for a reason outside of it; return its end with what was earned and not yet reported.

        ``failed``: what was to be read can't be, so that what was submitted has no grade.
        """
        if not self._running:
            return []
        if failed and self.submitted:
            self._end = None
        return [self._done(self._end or _End(at, False, reason, at, set()))]

    def _earn(self, at: float, readings: Readings, values: Mapping[str, Value]) -> list[Earned]:
        parts: list[Earned] = []
        for earnings in self._earnings:
            earnings.when.update(readings, values)
            if self._end is not None and earnings.source not in self._end.waiting:
                continue
            part = earnings.earn(at, readings.get(earnings.source, _UNREAD))
            if part is not None:
                parts.append(part)
        return parts

    def _ended(self, at: float, readings: Readings, values: Mapping[str, Value]) -> _End | None:
        for watch, terminated, reason in self._watches:
            watch.update(readings, values)
            if watch.holds:
                return _End(watch.since, terminated, reason, at, self._rewarded())
        return None

    def _rewarded(self) -> set[str]:
        """Return the sources that may have earned something by now that hasn't been read."""
        return {earnings.source for earnings in self._earnings if earnings.give != "second"}

    def _is_pending(self, end: _End, name: str, reading: Reading) -> bool:
        if reading.state is ReadingState.UNSETTLED:
            return True
        return name not in self._on_screen and (reading.sample is None or reading.sample.at < end.next_at)

    def _rewards(self, earned: Iterable[Earned]) -> list[reports.Report]:
        sums: dict[float, float] = {}
        for at, amount in earned:
            sums[at] = sums.get(at, 0.0) + amount
        return [reports.Reward(self._episode, amount, at) for at, amount in sorted(sums.items()) if amount]

    def _done(self, end: _End) -> reports.Report:
        self._running = False
        reward = end.earned + sum(earnings.finish(end.reason) for earnings in self._earnings)
        info = {**end.info, **self.evidence()}
        return reports.Done(
            self._episode, reward, end.terminated, not end.terminated, end.reason, end.at, info, end.source
        )

    def _texts(self, values: Mapping[str, Value]) -> list[reports.Report]:
        episode = self._game.episode
        shown: list[reports.Report] = []
        text = values.get(episode.text) if episode.text is not None else None
        if text is not None and text != self._text:
            self._text = text
            if text != "":
                shown.append(reports.Text(self._episode, str(text)[:MAX_TEXT_CHARS]))
        observation = {name: values.get(name) for name in episode.observation}
        if observation and observation != self._observation:
            self._observation = observation
            shown.append(reports.Observation(self._episode, observation))
        return shown


def _values(readings: Readings) -> dict[str, Value]:
    return {name: reading.value for name, reading in readings.items()}


def _number(value: Value) -> float | None:
    return value if isinstance(value, (int, float)) else None


def _truth(value: Value) -> float | None:
    return None if value is None else float(bool(value))
