"""A recording's samples through a game's present rules: its episodes, with what they earned and how they ended. Pure.

Where the sources that decide it were read when it was recorded, an episode begins as it did then. Where they weren't,
as in a draft, or where these rules see a new end, it begins when ``ready`` holds: a game that
restarts in its own process is another episode.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pluriverse_protocol import reports
from pluriverse_server.manifest.conditions import names_in
from pluriverse_server.manifest.game import OWN_SOURCES, GameTables
from pluriverse_server.sources.reading import Reading, ReadingState, Sample, SourceError
from pluriverse_server.sources.rules import REPORTS, Rules
from pluriverse_server.sources.settle import SETTLE_S, Settlers

from .compare import Mark
from .samples import Samples

# How long readings of an episode's end may settle after the next was requested, and those of its beginning.
GRACE_S: Final = 1.0


@dataclass(slots=True)
class Scraped:
    """A scraped episode. Times are seconds since the recording began; ``done`` is its end, if there was one.

    ``by_second`` is what each reward by the second gave in all, and ``rewards`` are the others.
    """

    begin: float
    env_id: str
    rewards: list[Mark[float]] = field(default_factory=list[Mark[float]])
    by_second: list[float] = field(default_factory=list[float])
    done: Mark[reports.Done] | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class ScrapedCycle:
    at: float
    readings: Mapping[str, Reading]
    episode: Scraped | None


class Rescraper:
    """Plays one recording's samples by ``cycles``; ``episodes`` is complete after the last of them."""

    def __init__(self, game: Callable[[str], GameTables], samples: Samples) -> None:
        self.episodes: list[Scraped] = []
        self._tables = game
        self._samples = samples
        self._env_id = samples.header.env_id
        self._game = self._play(self._env_id)
        self._playing: Scraped | None = None
        # Since when the program was ready, as reported; when these rules then saw an end.
        self._ready_at: float | None = None
        self._over_at: float | None = None
        self._next_at: float | None = None
        self._done_said = False
        # The readings of this cycle, where an episode began before its end.
        self._first: dict[str, Reading] | None = None

    def cycles(self) -> Generator[ScrapedCycle]:
        """Yield the cycles in order; raise SourceError if a source off the screen wasn't recorded."""
        for cycle in self._samples.cycles:
            for at, said in cycle.said:
                self._hear(at, said, cycle.samples)
            readings = self._first if self._first is not None else self._game.read(cycle.samples)
            self._first = None
            if self._playing is None and self._may_begin(cycle.at, readings):
                self._begin(cycle.at)
                readings = {**readings, **self._game.unread}
            episode = self._playing
            if episode is not None:
                self._take(episode, cycle.at, self._game.rules.feed(cycle.at, readings))
                self._game.count(episode, lambda rules, at=cycle.at, readings=readings: rules.feed(at, readings))
                self._leave_if_over(cycle.at)
            yield ScrapedCycle(cycle.at, readings, episode)

    def _play(self, env_id: str) -> _Game:
        return _Game(self._tables(env_id), self._samples.live.get(env_id, frozenset()))

    def _hear(self, at: float, said: Mapping[str, Any], samples: Mapping[str, Sample]) -> None:
        match said:
            case {"event": "begin", "env": str(env_id)}:
                self._next_at = at
                self._ready_at = None
                if not self._done_said or env_id != self._env_id:
                    self._end(at)
                if env_id != self._env_id:
                    self._env_id = env_id
                    self._game = self._play(env_id)
                    self._first = None
            case {"event": "end"}:
                self._ready_at = None
                if not self._done_said:
                    # The daemon ended it, such as by its time limit.
                    self._end(at)
            case {"report": "ready"}:
                self._end(at)
                self._ready_at = at
                self._over_at = self._next_at = None
                self._done_said = False
                if self._game.reports:
                    # What counts as it begins was read before.
                    self._first = self._game.read(samples)
                    self._begin(at)
                    self._first |= self._game.unread
            case {"report": "reward", "reward": int() | float() as amount} if self._game.hears(said):
                if self._playing is not None:
                    reward = reports.Reward(0, float(amount), self._since_began(said, at))
                    self._playing.rewards += self._game.hear(at, reward)
            case {"report": "done", "reason": str(reason), "truncated": bool(truncated)}:
                self._done_said = True
                if self._playing is None:
                    return
                if self._game.hears(said):
                    # What the end earned was recorded as a reward of its own where sources are read as well.
                    reward = 0.0 if self._game.is_read else float(said.get("reward", 0.0))
                    when = self._since_began(said, at)
                    done = reports.Done(0, reward, not truncated, truncated, reason, when)
                    self._playing.rewards += self._game.hear(at, done)
                    if not self._game.is_read:
                        self._playing.done = Mark(when, done, at)
                        self._end(at)
                elif truncated and not self._game.truncates(reason):
                    # For no reason that can be read: the program ended, or exceeded a limit.
                    self._take(self._playing, at, self._game.rules.cut(at, reason))
                    self._game.count(self._playing, lambda rules: rules.cut(at, reason))
                    self._end(at)
            case _:
                pass

    def _since_began(self, said: Mapping[str, Any], at: float) -> float:
        """Return when what a program reported was on its screen."""
        shown = said.get("at")
        return shown - self._samples.header.began if isinstance(shown, int | float) else at

    def _may_begin(self, at: float, readings: Mapping[str, Reading]) -> bool:
        if self._ready_at is None or self._game.reports:
            return False
        if not self._game.decided_live:
            return self._game.is_led(at, readings)
        if self._over_at is not None:
            # Reports of this end may still come.
            return at - self._over_at >= GRACE_S and self._game.is_led(at, readings)
        return self._game.rules.ready(readings) or at - self._ready_at >= GRACE_S

    def _begin(self, at: float) -> None:
        self._playing = Scraped(at, self._env_id, by_second=[0.0] * len(self._game.by_second))
        self.episodes.append(self._playing)
        self._game.begin(len(self.episodes), at)

    def _take(self, episode: Scraped, at: float, said: list[reports.Report]) -> None:
        for report in said:
            match report:
                case reports.Reward(reward=amount):
                    episode.rewards.append(Mark(_when(report, at), amount, at))
                case reports.Done(reward=amount):
                    if amount:
                        episode.rewards.append(Mark(_when(report, at), amount, at))
                    episode.done = Mark(_when(report, at), report, at)
                case _:
                    pass

    def _leave_if_over(self, at: float) -> None:
        assert self._playing is not None
        if self._playing.done is not None or (self._next_at is not None and at - self._next_at >= GRACE_S):
            self._end(at)

    def _end(self, at: float) -> None:
        if self._playing is not None:
            done = self._playing.done
            self._playing.end = done.at if done is not None else min(at, self._next_at or at)
            self._playing = None
            self._over_at = at
            self._game.leave()


class _Game:
    """One environment's rules.

    ``reports``: its program or page reported its rewards, and when it was ready; ``is_read``: it has sources.
    ``unread``: those that have to settle, and hadn't as the episode began.
    """

    def __init__(self, tables: GameTables, live: frozenset[str]) -> None:
        timed = [reward for reward in tables.rewards if reward.give == "second"]
        others = [reward for reward in tables.rewards if reward.give != "second"]
        self.reports = any(reward.source in OWN_SOURCES for reward in others)
        self.is_read = bool(tables.sources)
        episode = tables.episode
        self.rules = Rules(tables.model_copy(update={"rewards": others}))
        self.by_second = [Rules(tables.model_copy(update={"rewards": [reward]})) for reward in timed]
        self._reasons = {reason or condition for reason, condition in episode.truncated.items()}
        conditions = [*episode.done.values(), *episode.truncated.values(), *([episode.ready] if episode.ready else [])]
        self.decided_live = frozenset[str]().union(*map(names_in, conditions)) <= live
        self._lacking = [name for name in tables.sources if name not in tables.screen_sources and name not in live]
        self._settlers = Settlers(tables.sources)
        rewarded = {reward.source for reward in tables.rewards}
        self._settling = {name for name, source in tables.sources.items() if source.settles and name in rewarded}
        self._settle_s = SETTLE_S + tables.settles_s
        self._settled_by: float | None = None
        self.unread: dict[str, Reading] = {}

    def truncates(self, reason: str) -> bool:
        return reason in self._reasons

    def begin(self, episode_id: int, at: float) -> None:
        if self._lacking:
            lacking = ", ".join(self._lacking)
            raise SourceError(f"{lacking}: neither on the screen nor read when this was recorded; record again")
        unsettled = self._settlers.begin(at)
        self.unread = dict.fromkeys(unsettled, Reading())
        self._settled_by = None
        for rules in (self.rules, *self.by_second):
            rules.begin(episode_id, at)

    def leave(self) -> None:
        self._settlers.leave()

    def is_led(self, at: float, readings: Mapping[str, Reading]) -> bool:
        """Return whether an episode can begin: it is ready, and what has to settle has done so since, or never does."""
        if not self.rules.ready(readings):
            return False
        if self._settling and self._settled_by is None:
            self._settled_by = at + self._settle_s
            self._settlers.begin()
            return False
        if self._settled_by is None or at > self._settled_by:
            return True
        return all(readings[name].state is not ReadingState.UNSETTLED for name in self._settling)

    def hears(self, said: Mapping[str, Any]) -> bool:
        """Return whether the program or page reported this itself."""
        return self.reports and (not self.is_read or said.get("source") == REPORTS)

    def hear(self, at: float, report: reports.Reward | reports.Done) -> list[Mark[float]]:
        """Take what was reported at ``at``; return what it earned."""
        for rules in self.by_second:
            rules.hear(at, report)
        said = self.rules.hear(at, report)
        return [Mark(_when(one, at), one.reward, at) for one in said if isinstance(one, reports.Reward)]

    def read(self, samples: Mapping[str, Sample]) -> dict[str, Reading]:
        return {name: self._settlers.feed(name, sample) for name, sample in samples.items()}

    def count(self, episode: Scraped, say: Callable[[Rules], list[reports.Report]]) -> None:
        for index, rules in enumerate(self.by_second):
            given = (one.reward for one in say(rules) if isinstance(one, reports.Reward | reports.Done))
            episode.by_second[index] += sum(given)


def _when(report: reports.Reward | reports.Done, at: float) -> float:
    return report.at if report.at is not None else at
