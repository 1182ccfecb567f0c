"""Compares a recording's scraped episodes, rewards and readings with its labels. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pluriverse_server.manifest.conditions import Value, names_in
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.sources.reading import Reading

from .compare import WINDOW_S, Mark, Matched, match, match_rewards
from .labels import LabelledEpisode, LabelledValue, LabelledValues, Labels
from .rescrape import Scraped

W = TypeVar("W")

# "terminated" or "truncated", and the reason.
End = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A difference from the labels: its ``kind`` in words, its time in seconds, and the sources it was read from."""

    kind: str
    at: float
    sources: tuple[str, ...]
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class EpisodeSums:
    """An episode's labelled and scraped reward. ``begin`` and ``end`` are the label's."""

    begin: float
    end: float | None
    true: float
    scraped: float


@dataclass(slots=True)
class ReadingCount:
    """In how many cycles a source was compared, and in how many it was wrong."""

    cycles: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """One recording's score. ``seconds`` is the time of its last cycle."""

    environment: str
    fps: float
    seconds: float
    episodes: list[EpisodeSums]
    rewards: Matched[float]
    dones: Matched[End]
    readings: dict[str, ReadingCount]
    disagreements: list[Disagreement]

    @property
    def perfect(self) -> bool:
        """Whether nothing differs from the labels."""
        return not self.disagreements


class ReadingComparison:
    """Compares each cycle's readings with the labels of their sources; see ``counts`` and ``disagreements``."""

    def __init__(self, labels: Labels) -> None:
        self.counts = {name: ReadingCount() for name in sorted(labels.sources)}
        self.disagreements: list[Disagreement] = []
        self._labels = labels.sources
        self._wrong: set[str] = set()

    def see(self, at: float, readings: Mapping[str, Reading]) -> None:
        """Compare a cycle. A reading that stays wrong from cycle to cycle is one disagreement."""
        for name in self.counts:
            reading = readings.get(name)
            near = _near(self._labels[name], at)
            if reading is None or reading.value is None or not near or None in near:
                self._wrong.discard(name)
                continue
            self.counts[name].cycles += 1
            if reading.value in near:
                self._wrong.discard(name)
                continue
            self.counts[name].wrong += 1
            if name not in self._wrong:
                self._wrong.add(name)
                expected = " or ".join(map(_show, dict.fromkeys(near)))
                self.disagreements.append(Disagreement("wrong reading", at, (name,), expected, _show(reading.value)))


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
    rewards = match_rewards(
        [Mark(at, amount, at) for at, amount in labels.rewards], [mark for one in scraped for mark in one.rewards]
    )
    dones = match(_true_ends(labels), _scraped_ends(scraped), _same_end)
    begins = match(
        [Mark(one.begin, index, one.begin) for index, one in enumerate(labels.episodes)],
        [Mark(one.begin, index, one.begin) for index, one in enumerate(scraped)],
        lambda _, __: True,
    )
    pairs = [(labels.episodes[true.what], scraped[one.what]) for true, one in begins.pairs]
    disagreements = [
        *_of(begins, "episode", (), lambda _: "begins"),
        *_of(rewards, "reward", _reward_sources(game), _show),
        *_of(dones, "end", _end_sources(game), lambda end: ": ".join(part for part in end if part)),
        *readings.disagreements,
    ]
    return Result(
        environment,
        fps,
        seconds,
        _sums(labels, pairs),
        rewards,
        dones,
        readings.counts,
        sorted(disagreements, key=lambda one: (one.at, one.kind, one.sources)),
    )


def _of(matched: Matched[W], what: str, sources: tuple[str, ...], show: Callable[[W], str]) -> list[Disagreement]:
    missed = [Disagreement(f"missed {what}", mark.at, sources, show(mark.what), "nothing") for mark in matched.missed]
    return missed + [
        Disagreement(f"false {what}", mark.at, sources, "nothing", show(mark.what)) for mark in matched.false
    ]


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


def _reward_sources(game: GameTables) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reward.source for reward in game.rewards))


def _end_sources(game: GameTables) -> tuple[str, ...]:
    conditions = (*game.episode.done.values(), *game.episode.truncated.values())
    return tuple(sorted({name for text in conditions for name in names_in(text)}))


def _show(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
