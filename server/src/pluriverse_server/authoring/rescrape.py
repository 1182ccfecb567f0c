"""Reads a recording again: its pictures and samples through a game's present sources and rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from pluriverse_protocol import reports

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.recording.replay import Moment, Replay
from pluriverse_server.sources.reading import Reading, Sample, SourceError
from pluriverse_server.sources.rules import Rules
from pluriverse_server.sources.screen import make_reader
from pluriverse_server.sources.settle import Settlers

from .compare import Mark

# Further looks at the last picture, so that it can settle: more than sources may require.
LAST_LOOKS: Final = 10

# A VNC server shows a frame some milliseconds after X has it; reports about it must not come before.
SCREEN_LAG_S: Final = 0.02

# How long readings that end an episode may settle after the next was requested, and those that say that one is ready.
GRACE_S: Final = 1.0


@dataclass(slots=True)
class Scraped:
    """A scraped episode. Times are seconds since the recording began; ``done`` is its end, if there was one."""

    begin: float
    env_id: str
    rewards: list[Mark[float]] = field(default_factory=list[Mark[float]])
    done: Mark[reports.Done] | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class ScrapedCycle:
    """All readings of one time, and their episode; None between episodes."""

    at: float
    readings: Mapping[str, Reading]
    episode: Scraped | None


class Rescraper:
    """Reads one recording by ``cycles``; ``episodes`` is complete after the last of them."""

    def __init__(self, directory: Path, manifest: Manifest, replay: Replay) -> None:
        self.episodes: list[Scraped] = []
        self._directory = directory
        self._manifest = manifest
        self._replay = replay
        self._env_id = replay.header.env_id
        self._game = _Game(directory, manifest.game(self._env_id))
        self._playing: Scraped | None = None
        self._ready_at: float | None = None
        self._next_at: float | None = None
        self._done_said = False

    def cycles(self) -> Generator[ScrapedCycle]:
        """Yield the cycles in order; raise SourceError if a source needs a missing file, or wasn't recorded."""
        waiting: deque[tuple[float, Mapping[str, Any]]] = deque()
        for moment in self._replay.cycles(self._replay.header.fps, last_looks=LAST_LOOKS):
            waiting += moment.said
            while waiting and waiting[0][0] + SCREEN_LAG_S <= moment.at:
                self._hear(*waiting.popleft())
            readings = self._game.read(moment)
            self._begin_if_ready(moment.at, readings)
            episode = self._playing
            if episode is not None:
                self._take(episode, moment.at, self._game.rules.feed(moment.at, readings))
                self._leave_if_over(moment.at)
            yield ScrapedCycle(moment.at, readings, episode)
        self._game.check_recorded()

    def _hear(self, at: float, said: Mapping[str, Any]) -> None:
        match said:
            case {"event": "begin", "env": str(env_id)}:
                self._next_at = at
                if not self._done_said or env_id != self._env_id:
                    self._end(at)
                if env_id != self._env_id:
                    self._env_id = env_id
                    self._game = _Game(self._directory, self._manifest.game(env_id))
            case {"event": "end"} if not self._done_said:
                # The daemon ended it, such as by its time limit.
                self._end(at)
            case {"report": "ready"}:
                self._end(at)
                self._ready_at = at
                self._done_said = False
            case {"report": "done", "reason": str(reason), "truncated": bool(truncated)}:
                self._done_said = True
                if truncated and self._playing is not None and not self._game.truncates(reason):
                    # For no reason that can be read: the program ended, or exceeded a limit.
                    self._take(self._playing, at, self._game.rules.cut(at, reason))
                    self._end(at)
            case {"report": "readings", "readings": dict()}:
                self._game.hear(cast("Mapping[str, Any]", said["readings"]))
            case _:
                pass

    def _begin_if_ready(self, at: float, readings: Mapping[str, Reading]) -> None:
        if self._ready_at is None:
            return
        if self._game.rules.ready(readings) or at - self._ready_at >= GRACE_S:
            self._ready_at = self._next_at = None
            self._playing = Scraped(at, self._env_id)
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
            self._game.leave()


class _Game:
    """One environment's sources and rules.

    Reward for time is left out: it follows from when a source holds, and that is compared as such.
    """

    def __init__(self, directory: Path, tables: GameTables) -> None:
        rewards = [reward for reward in tables.rewards if reward.give != "second"]
        self.rules = Rules(tables.model_copy(update={"rewards": rewards}))
        self._reasons = {reason or condition for reason, condition in tables.episode.truncated.items()}
        self._settlers = Settlers(tables.sources)
        self._names = list(tables.sources)
        self._screen = {
            name: (table.region, make_reader(name, table, directory)) for name, table in tables.screen_sources.items()
        }
        self._heard: dict[str, Mapping[str, Any] | None] = {
            name: None for name in tables.sources if name not in self._screen
        }
        self._played = False

    def truncates(self, reason: str) -> bool:
        """Return whether one of the game's conditions truncates episodes for this reason."""
        return reason in self._reasons

    def begin(self, episode_id: int, at: float) -> None:
        """Begin an episode."""
        self._played = True
        self._settlers.begin()
        self.rules.begin(episode_id, at)

    def leave(self) -> None:
        """End the episode."""
        self._settlers.leave()

    def hear(self, readings: Mapping[str, Any]) -> None:
        """Take the recorded readings of sources that aren't on the screen."""
        for name, reading in readings.items():
            if name in self._heard and isinstance(reading, Mapping):
                before = self._heard[name] or {}
                events = _number(before.get("events")) + _number(cast("Mapping[str, Any]", reading).get("events"))
                self._heard[name] = {**reading, "events": events}

    def read(self, moment: Moment) -> dict[str, Reading]:
        """Read all sources at this time."""
        samples = {
            name: self._look(name, moment) if name in self._screen else self._recall(name, moment.at)
            for name in self._names
        }
        return {name: self._settlers.feed(name, sample) for name, sample in samples.items()}

    def check_recorded(self) -> None:
        """Raise SourceError if a source wasn't recorded, because it was added later."""
        lacking = [name for name, heard in self._heard.items() if heard is None]
        if lacking and self._played:
            raise SourceError(
                f"{', '.join(lacking)}: not on the screen, and not read when this was recorded; record anew"
            )

    def _look(self, name: str, moment: Moment) -> Sample:
        (x, y, width, height), reader = self._screen[name]
        value, confidence = reader.read(moment.frame[y : y + height, x : x + width])
        return Sample(value, moment.at, confidence)

    def _recall(self, name: str, at: float) -> Sample:
        heard = self._heard[name]
        if heard is None:
            return Sample(None, at)
        self._heard[name] = {**heard, "events": 0}
        return Sample(
            cast("Value", heard.get("raw")),
            at,
            _number(heard.get("confidence")),
            int(_number(heard.get("events"))),
            _number(heard.get("lag_ms")) / 1000,
        )


def _when(report: reports.Reward | reports.Done, at: float) -> float:
    return report.at if report.at is not None else at


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
