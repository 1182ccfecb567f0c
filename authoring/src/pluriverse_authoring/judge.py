"""Compares a recording's scraped episodes, rewards and readings with its labels. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from pluriverse_server.manifest.conditions import Value, holds, names_in
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.page import PageTable
from pluriverse_server.sources.reading import Reading

from .compare import NEGLIGIBLE, WINDOW_S, Mark, Matched, apart, match, match_rewards
from .labels import LabelledEpisode, LabelledValue, LabelledValues, Labels
from .rescrape import Rescraper, Scraped
from .samples import Samples

W = TypeVar("W")

# "terminated" or "truncated", and the reason.
End = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A difference from the labels: its ``kind`` in words, its time in seconds, and the sources that caused it.

    There are no ``sources`` where the cause isn't known.
    """

    kind: str
    at: float
    sources: tuple[str, ...]
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class EpisodeSums:
    begin: float
    end: float | None
    true: float
    scraped: float


@dataclass(frozen=True, slots=True)
class BySecond:
    """What a reward by the second gave in an episode, and what it should have by the labels of its source."""

    source: str
    begin: float
    true: float
    scraped: float


@dataclass(slots=True)
class ReadingCount:
    cycles: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """One recording's score. ``seconds`` is the time of its last cycle.

    ``apart``: how far the sum of reward ever was from the true one. ``recorded_with``: another version of the runtime.
    ``labels``: how many a person entered, and how many were accepted as read.
    """

    environment: str
    fps: float
    seconds: float
    max_delay_s: float
    episodes: list[EpisodeSums]
    begins: Matched[int]
    rewards: Matched[float]
    apart: float
    by_second: list[BySecond]
    dones: Matched[End]
    readings: dict[str, ReadingCount]
    disagreements: list[Disagreement]
    labels: tuple[int, int]
    recorded_with: str | None = None

    @property
    def perfect(self) -> bool:
        return not self.disagreements

    @property
    def compared(self) -> bool:
        return self.rewards.compared or self.dones.compared or bool(self.by_second)

    @property
    def wrong_episodes(self) -> int:
        """How many episodes were missed, made up, or earned another sum."""
        differ = sum(abs(one.true - one.scraped) > NEGLIGIBLE for one in self.episodes)
        return len(self.begins.missed) + len(self.begins.false) + differ


def judge_samples(game: Callable[[str], GameTables], samples: Samples, labels: Labels) -> Result:
    """Compare with the labels what the rules of ``game``, an environment's tables by its id, make of a recording."""
    rescraper = Rescraper(game, samples)
    readings = ReadingComparison(labels)
    for cycle in rescraper.cycles():
        readings.see(cycle.at, cycle.readings if cycle.episode is not None else {})
    header = samples.header
    tables = game(header.env_id)
    return judge(tables, header.env_id, header.fps, samples.seconds, labels, rescraper.episodes, readings)


class ReadingComparison:
    """Compares each cycle's readings with the labels of their sources; see ``counts`` and ``disagreements``."""

    def __init__(self, labels: Labels) -> None:
        self.counts = {name: ReadingCount() for name in sorted(labels.sources)}
        self.disagreements: list[Disagreement] = []
        # When each source was read with another value, or had an event.
        self.changes: defaultdict[str, set[float]] = defaultdict(set)
        self._labels = labels.sources
        self._ends = [episode.end for episode in labels.episodes if episode.end is not None]
        self._wrong: set[str] = set()
        # Since when a source that has a label has no reading.
        self._unread: dict[str, float] = {}

    def see(self, at: float, readings: Mapping[str, Reading]) -> None:
        """Compare a cycle; there are no readings between episodes.

        A reading that stays wrong from cycle to cycle is one disagreement, and so is one that stays away for longer
        than the window although it was labelled in this episode.
        """
        for name, reading in readings.items():
            self.changes[name].add(reading.at)
            if reading.events and reading.sample is not None:
                self.changes[name].add(reading.sample.at)
        for name in self.counts:
            near = _near(self._labels[name], at)
            if name not in readings or not near or None in near:
                self._wrong.discard(name)
                self._unread.pop(name, None)
            elif (value := readings[name].value) is not None:
                self._unread.pop(name, None)
                self._compare(at, name, near, value)
            elif self._is_due(name, at) and at - self._unread.setdefault(name, at) > WINDOW_S:
                self._compare(at, name, near, None)

    def _is_due(self, name: str, at: float) -> bool:
        """Return whether the label that holds now is newer than the last end: older ones may not be shown yet."""
        held = bisect_right(self._labels[name], at, key=_time)
        ended = max((end for end in self._ends if end <= at), default=-1.0)
        return held > 0 and self._labels[name][held - 1][0] > ended

    def _compare(self, at: float, name: str, near: Sequence[Value], value: Value) -> None:
        self.counts[name].cycles += 1
        if value in near:
            self._wrong.discard(name)
            return
        self.counts[name].wrong += 1
        if name not in self._wrong:
            self._wrong.add(name)
            kind, got = ("missed reading", "no reading") if value is None else ("wrong reading", _show(value))
            expected = " or ".join(map(_show, dict.fromkeys(near)))
            self.disagreements.append(Disagreement(kind, at, (name,), expected, got))


def _near(steps: LabelledValues, at: float) -> list[Value]:
    """Return a source's labelled values within the window around ``at``; none before the first."""
    first = max(bisect_right(steps, at - WINDOW_S, key=_time) - 1, 0)
    return [value for _, value in steps[first : bisect_right(steps, at + WINDOW_S, key=_time)]]


def _time(step: LabelledValue) -> float:
    return step[0]


def judge(
    game: GameTables,
    environment: str,
    fps: float,
    seconds: float,
    labels: Labels,
    scraped: Sequence[Scraped],
    readings: ReadingComparison,
) -> Result:
    """Return the result of ``scraped`` episodes and of ``readings`` that have seen all cycles of the recording."""
    true = [Mark(at, amount, at) for at, amount in labels.rewards]
    given = [mark for one in scraped for mark in one.rewards]
    rewards = match_rewards(true, given)
    dones = match(_true_ends(labels), _scraped_ends(scraped), _same_end)
    begins = match(
        [Mark(one.begin, index, one.begin) for index, one in enumerate(labels.episodes)],
        [Mark(one.begin, index, one.begin) for index, one in enumerate(scraped)],
        lambda _, __: True,
    )
    pairs = [(labels.episodes[one.what], scraped[other.what]) for one, other in begins.pairs]
    max_delay_s = game.score.max_delay_s
    by_second = [one for episode, other in pairs for one in _by_second(game, labels, seconds, episode, other)]
    rewarded = tuple(dict.fromkeys(reward.source for reward in game.rewards))
    labelled = {name: [at for at, _ in steps] for name, steps in labels.sources.items()}

    def earned_by(mark: Mark[float], changes: Mapping[str, Collection[float]], within: float) -> tuple[str, ...]:
        changed = (name for name in rewarded if any(abs(at - mark.at) <= within for at in changes.get(name, ())))
        return rewarded if len(rewarded) == 1 else tuple(changed)

    def missed_by(mark: Mark[float]) -> tuple[str, ...]:
        return earned_by(mark, labelled, WINDOW_S)

    def given_by(mark: Mark[float]) -> tuple[str, ...]:
        return earned_by(mark, readings.changes, NEGLIGIBLE)

    def ended_by(mark: Mark[End]) -> tuple[str, ...]:
        return _end_sources(game, mark.what)

    disagreements = [
        *_of(begins, "episode", lambda _: (), lambda _: (), lambda _: "begins"),
        *_of(rewards, "reward", missed_by, given_by, _show),
        *_of(dones, "end", ended_by, ended_by, lambda end: ": ".join(part for part in end if part)),
        *_late(rewards, "reward", given_by, max_delay_s),
        *_late(dones, "end", ended_by, max_delay_s),
        *(
            Disagreement("wrong reward by the second", one.begin, (one.source,), _show(one.true), _show(one.scraped))
            for one, allowed in by_second
            if abs(one.true - one.scraped) > allowed
        ),
        *readings.disagreements,
    ]
    return Result(
        environment,
        fps,
        seconds,
        max_delay_s,
        _sums(labels, pairs),
        begins,
        rewards,
        apart(true, given),
        [one for one, _ in by_second],
        dones,
        readings.counts,
        sorted(disagreements, key=lambda one: (one.at, one.kind, one.sources)),
        labels.entered_and_accepted,
    )


def uncompared(game: GameTables, page: PageTable | None, results: Sequence[Result]) -> list[str]:
    """Return what of an environment's rules no recording has: rewards, rewards by the second, ends."""
    found: list[str] = []
    by_second = list(dict.fromkeys(reward.source for reward in game.rewards if reward.give == "second"))
    if any(reward.give != "second" for reward in game.rewards) and not any(one.rewards.compared for one in results):
        found.append("rewards")
    found += [
        f"reward by the second of {source}, whose values have to be labelled"
        for source in by_second
        if not any(source == timed.source for one in results for timed in one.by_second)
    ]
    ends = game.episode.done or game.episode.truncated or (page is not None and (page.done or page.truncated))
    if ends and not any(one.dones.compared for one in results):
        found.append("ends of episodes")
    return found


def never_ended(game: GameTables, page: PageTable | None, results: Sequence[Result]) -> list[str]:
    """Return the ends by an environment's rules that occurred in no recording, such as ``done won``."""
    ends = {mark.what for one in results for mark in one.dones.all}
    if not ends:
        return []  # reported by ``uncompared``
    kinds = {kind for kind, _ in ends}
    tables = (("done", "terminated", game.episode.done), ("truncated", "truncated", game.episode.truncated))
    found = [
        f"{key} {reason or condition}"
        for key, kind, conditions in tables
        for reason, condition in conditions.items()
        if (kind, reason or condition) not in ends
    ]
    expressions = [("done", "terminated", page.done), ("truncated", "truncated", page.truncated)] if page else []
    return found + [f"{key} {text}" for key, kind, text in expressions if text and kind not in kinds]


def _late(
    matched: Matched[W], what: str, causes: Callable[[Mark[W]], tuple[str, ...]], max_delay_s: float
) -> list[Disagreement]:
    return [
        Disagreement(f"late {what}", true.at, causes(given), f"at most {max_delay_s:g} s", f"{delay:.3g} s")
        for (true, given), delay in zip(matched.pairs, matched.delays, strict=True)
        if delay > max_delay_s
    ]


def _by_second(
    game: GameTables, labels: Labels, seconds: float, episode: LabelledEpisode, scraped: Scraped
) -> Iterator[tuple[BySecond, float]]:
    """Yield what each reward by the second gave, and how far that may be from the truth.

    That is what each time at which it begins or stops to be given may be read later.
    """
    timed = [reward for reward in game.rewards if reward.give == "second"]
    # Rules that leave a reward out give nothing for it.
    given_in_all = [*scraped.by_second, *[0.0] * len(timed)]
    for reward, given in zip(timed, given_in_all, strict=False):
        condition = reward.source if reward.when is None else f"{reward.source} and ({reward.when})"
        names = names_in(condition)
        if not names <= labels.sources.keys():
            continue
        until = episode.end if episode.end is not None else seconds
        changes = sorted({at for name in names for at, _ in labels.sources[name] if episode.begin < at < until})
        spans = list(pairwise([episode.begin, *changes, until]))
        holding = [
            holds(condition, {name: _labelled(labels.sources[name], before) for name in names}) for before, _ in spans
        ]
        held = sum(after - before for (before, after), holds_then in zip(spans, holding, strict=True) if holds_then)
        turns = sum(one != other for one, other in pairwise(holding))
        allowed = abs(reward.scale) * game.score.max_delay_s * (turns + 2)
        yield BySecond(reward.source, episode.begin, reward.scale * held, given), allowed


def _labelled(steps: LabelledValues, at: float) -> Value:
    index = bisect_right(steps, at, key=_time) - 1
    return steps[index][1] if index >= 0 else None


def _of(
    matched: Matched[W],
    what: str,
    missed_by: Callable[[Mark[W]], tuple[str, ...]],
    given_by: Callable[[Mark[W]], tuple[str, ...]],
    show: Callable[[W], str],
) -> list[Disagreement]:
    return [
        Disagreement(f"missed {what}", mark.at, missed_by(mark), show(mark.what), "nothing") for mark in matched.missed
    ] + [Disagreement(f"false {what}", mark.at, given_by(mark), "nothing", show(mark.what)) for mark in matched.false]


def _sums(labels: Labels, pairs: Sequence[tuple[LabelledEpisode, Scraped]]) -> list[EpisodeSums]:
    begins = [episode.begin for episode in labels.episodes]
    true = [0.0] * len(begins)
    for at, amount in labels.rewards:
        if (index := bisect_right(begins, at) - 1) >= 0:
            true[index] += amount
    return [
        EpisodeSums(
            episode.begin, episode.end, true[begins.index(episode.begin)], sum(mark.what for mark in one.rewards)
        )
        for episode, one in pairs
    ]


def _true_ends(labels: Labels) -> list[Mark[End]]:
    return [
        Mark(episode.end, (episode.done, episode.reason), episode.end)
        for episode in labels.episodes
        if episode.done is not None and episode.end is not None
    ]


def _scraped_ends(scraped: Sequence[Scraped]) -> list[Mark[End]]:
    ends: list[Mark[End]] = []
    for done in (one.done for one in scraped if one.done is not None):
        kind = "terminated" if done.what.terminated else "truncated"
        ends.append(Mark(done.at, (kind, done.what.reason), done.reported_at))
    return ends


def _same_end(true: End, scraped: End) -> bool:
    """Labels needn't have the reason."""
    return true[0] == scraped[0] and true[1] in ("", scraped[1])


def _end_sources(game: GameTables, end: End) -> tuple[str, ...]:
    """Return the sources of the condition by which an episode ends so; none if it isn't known which."""
    kind, reason = end
    conditions = game.episode.done if kind == "terminated" else game.episode.truncated
    known = [text for name, text in conditions.items() if reason == (name or text)]
    if not reason and len(conditions) == 1:
        known = list(conditions.values())
    return tuple(sorted(frozenset[str]().union(*map(names_in, known))))


def _show(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
