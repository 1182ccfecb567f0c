"""From readings to reports: the rewards, the end, and what is told of a scraped program's episode. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pluriverse_protocol import reports

from pluriverse_server.manifest.conditions import Value, holds, names_in
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.sources import LogSource, ScreenSource

from .earnings import Earned, Earnings, Readings, Watch
from .reading import MAX_TEXT_CHARS, Reading, State

# An end waits for what is still settling or hasn't been read since, or the last points would be lost. Scores that roll
# up to their value settle within half a second, or are not worth the wait.
MAX_HOLD_S: Final = 0.5

_UNREAD: Final = Reading()


@dataclass(slots=True)
class _End:
    """An end that was seen in the cycle of ``seen_at`` and waits for ``waiting``, with what has been earned since.

    ``next_at`` is the cycle after that: what was read before it may have been read before the program's last words.
    """

    at: float
    terminated: bool
    reason: str
    seen_at: float
    waiting: set[str]
    next_at: float = math.inf
    earned: float = 0.0


class Rules:
    """What a game's tables make of the readings of its sources, one episode after another.

    Times are UNIX seconds. A source's first value in an episode is where ``change`` counts from. Once a condition of
    ``done`` or ``truncated`` holds, only sources of rewards that were not settled then still count, and those beside
    the screen, each read at times of its own, until they have been read once more; the end is told when all are done
    with, or after ``MAX_HOLD_S``. A score that the game itself sets back to 0 as it ends needs ``monotonic``, or the
    fall counts like any other.
    """

    def __init__(self, game: GameTables) -> None:
        self._game = game
        self._lines = {name for name, source in game.sources.items() if isinstance(source, LogSource)}
        self._on_screen = {name for name, source in game.sources.items() if isinstance(source, ScreenSource)}
        self._ends = [(text, True, reason or text) for reason, text in game.episode.done.items()]
        self._ends += [(text, False, reason or text) for reason, text in game.episode.truncated.items()]
        self._ending_sources = frozenset[str]().union(*(names_in(text) for text, _, _ in self._ends))
        self._running = False

    def ready(self, readings: Readings) -> bool:
        """Whether an episode's first frame is there: its condition holds, and what could end it has been read."""
        values = _values(readings)
        condition = self._game.episode.ready
        if condition is not None and not holds(condition, values):
            return False
        read = (readings.get(name, _UNREAD) for name in self._ending_sources)
        if any(reading.sample is None or reading.state is State.UNSETTLED for reading in read):
            return False
        return not any(holds(text, values) for text, _, _ in self._ends)

    def begin(self, episode_id: int, at: float) -> None:
        """Another episode has begun, in the cycle of ``at``, whose readings are fed first: all counts from there."""
        self._episode = episode_id
        self._earnings = [
            Earnings(table, by_line=table.source in self._lines, begun=at) for table in self._game.rewards
        ]
        self._watches = [(Watch(text), terminated, reason) for text, terminated, reason in self._ends]
        self._text: Value = None
        self._observation: dict[str, Value] | None = None
        self._end: _End | None = None
        self._running = True

    def feed(self, at: float, readings: Readings) -> list[reports.Report]:
        """What follows of the readings of one cycle, in order; nothing once the episode's end has been told."""
        if not self._running:
            return []
        values = _values(readings)
        told = self._tell(values)
        earned = self._earn(at, readings, values)
        end = self._end
        if end is None:
            end = self._end = self._ended(at, readings, values)
        else:
            end.next_at = min(end.next_at, at)
        if end is None:
            return told + self._rewards(earned)
        end.earned += sum(part.amount for part in earned)
        end.waiting = {name for name in end.waiting if self._is_pending(end, name, readings[name])}
        if end.waiting and at - end.seen_at < MAX_HOLD_S:
            return told
        return [*told, self._done(end)]

    def cut(self, at: float, reason: str) -> list[reports.Report]:
        """The end of an episode that something outside it ended, truncated, with what had been earned and not told."""
        if not self._running:
            return []
        return [self._done(self._end or _End(at, False, reason, at, set()))]

    # ── one cycle's parts ───────────────────────────────────────────────────────────────────────────────────────────

    def _earn(self, at: float, readings: Readings, values: Mapping[str, Value]) -> list[Earned]:
        parts: list[Earned] = []
        for earnings in self._earnings:
            earnings.when.see(readings, values)
            if self._end is not None and earnings.source not in self._end.waiting:
                continue
            part = earnings.earn(at, readings.get(earnings.source, _UNREAD))
            if part is not None:
                parts.append(part)
        return parts

    def _ended(self, at: float, readings: Readings, values: Mapping[str, Value]) -> _End | None:
        for watch, terminated, reason in self._watches:
            watch.see(readings, values)
            if watch.holds:
                sources = {earnings.source for earnings in self._earnings if earnings.give != "second"}
                return _End(watch.since, terminated, reason, at, sources & readings.keys())
        return None

    def _is_pending(self, end: _End, name: str, reading: Reading) -> bool:
        if reading.state is State.UNSETTLED:
            return True
        return name not in self._on_screen and (reading.sample is None or reading.sample.at < end.next_at)

    def _rewards(self, earned: Iterable[Earned]) -> list[reports.Report]:
        sums: dict[float, float] = {}
        for part in earned:
            sums[part.at] = sums.get(part.at, 0.0) + part.amount
        return [reports.Reward(self._episode, amount, at) for at, amount in sorted(sums.items()) if amount]

    def _done(self, end: _End) -> reports.Report:
        self._running = False
        reward = end.earned + sum(earnings.finish() for earnings in self._earnings)
        return reports.Done(self._episode, reward, end.terminated, not end.terminated, end.reason, end.at)

    def _tell(self, values: Mapping[str, Value]) -> list[reports.Report]:
        episode = self._game.episode
        told: list[reports.Report] = []
        text = values.get(episode.text) if episode.text is not None else None
        if text is not None and text != self._text:
            self._text = text
            if text != "":
                told.append(reports.Text(self._episode, str(text)[:MAX_TEXT_CHARS]))
        observation = {name: values.get(name) for name in episode.observation}
        if observation and observation != self._observation:
            self._observation = observation
            told.append(reports.Observation(self._episode, observation))
        return told


def _values(readings: Readings) -> dict[str, Value]:
    return {name: reading.value for name, reading in readings.items()}
