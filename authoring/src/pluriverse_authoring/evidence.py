"""A recording's evidence about rules beside its labels: readings, pressed keys, the waits for episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pluriverse_protocol.events import Event, KeyEvent, PointerEvent
from pluriverse_server.manifest.game import GameTables, Step
from pluriverse_server.manifest.spaces import keysym
from pluriverse_server.sources.reading import Reading
from pluriverse_server.sources.rules import REPORTS, Rules

from .compare import WINDOW_S
from .judge import ReadingComparison, Trial, judge, judge_samples
from .labels import Labels
from .rescrape import Rescraper, Scraped

Readings = Mapping[str, Reading]


# Keysyms of characters that need Shift on the screens' keyboard, a US one, and of the keys that they are on.
UNSHIFTED: Final = {
    ord(shifted): ord(plain)
    for shifted, plain in zip(
        '~!@#$%^&*()_+{}|:"<>?ABCDEFGHIJKLMNOPQRSTUVWXYZ',
        "`1234567890-=[]\\;',./abcdefghijklmnopqrstuvwxyz",
        strict=True,
    )
}


class Evidence:
    """One recording by an environment's right rules. ``values`` are the numbers that each source had, by episodes."""

    def __init__(self, game: GameTables, trial: Trial) -> None:
        self._game = game
        self._trial = trial
        self.values: dict[str, list[list[float]]] = {name: [] for name in game.sources}
        rescraper = Rescraper(lambda _: game, trial.samples)
        between: list[tuple[float, Readings]] = []
        episode: Scraped | None = None
        for cycle in rescraper.cycles():
            if cycle.episode is None:
                between.append((cycle.at, cycle.readings))
                continue
            if cycle.episode is not episode:
                episode = cycle.episode
                for values in self.values.values():
                    values.append([])
            for name, reading in cycle.readings.items():
                values = self.values[name][-1]
                if isinstance(reading.value, (int, float)) and (not values or values[-1] != reading.value):
                    values.append(reading.value)
        self._episodes = rescraper.episodes
        # From the request of each episode until it was ready.
        self._intervals = _intervals(trial)
        # What was read since the steps that led to each.
        self._waits = [
            (ready, [(at, read) for at, read in between if self._led_at(begun, ready) < at <= ready])
            for begun, ready in self._intervals
        ]

    def differs(self, game: GameTables) -> bool:
        """Return whether what other rules make of it differs from the labels."""
        return not judge_samples(lambda _: game, self._trial.samples, self._trial.labels, self._game).perfect

    def differs_if(self, alter: Callable[[Scraped], None]) -> bool:
        """Return whether episodes as ``alter`` changes them differ from the labels."""
        episodes = [_copy(episode) for episode in self._episodes]
        for episode in episodes:
            alter(episode)
        result, labels = self._trial.result, self._trial.labels
        readings = ReadingComparison(Labels(recording=labels.recording))
        return not judge(self._game, result.environment, result.fps, result.seconds, labels, episodes, readings).perfect

    @property
    def hears_ends(self) -> bool:
        """Whether a program that is read reported an end itself."""
        return any(episode.done is not None and episode.done.what.source == REPORTS for episode in self._episodes)

    def begins_sooner(self, game: GameTables) -> bool:
        """Return whether by other rules an episode would have begun before it did."""
        rules = Rules(game)
        return any(
            rules.ready(readings) for ready, waited in self._waits for at, readings in waited if at < ready - WINDOW_S
        )

    def held(self, keys: Sequence[int]) -> bool:
        """Return whether these keys were down together in an episode."""
        wanted = {_unshifted(key) for key in keys}
        down: set[int] = set()
        episodes = self._trial.labels.episodes
        for record in self._trial.samples.inputs:
            match record.event:
                case KeyEvent(keysym=key, down=True):
                    down.add(key)
                    playing = any(one.begin <= record.at <= (one.end or record.at) for one in episodes)
                    if playing and wanted <= down:
                        return True
                case KeyEvent(keysym=key):
                    down.discard(key)
                case _:
                    pass
        return False

    def led_by(self, step: Step) -> bool:
        """Return whether the keys or the click of a step were recorded where an episode was led to."""
        return any(
            begun <= record.at <= ready and _is_of(step, record.event)
            for begun, ready in self._intervals
            for record in self._trial.samples.inputs
        )

    def _led_at(self, begun: float, ready: float) -> float:
        return max((record.at for record in self._trial.samples.inputs if begun <= record.at <= ready), default=begun)


def _intervals(trial: Trial) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    begun: float | None = None
    for at, said in trial.samples.said():
        match said:
            case {"event": "begin"}:
                begun = at
            case {"report": "ready"} if begun is not None:
                found.append((begun, at))
                begun = None
            case _:
                pass
    return found


def _copy(episode: Scraped) -> Scraped:
    lists = list(episode.rewards), list(episode.heard), list(episode.by_second)
    return Scraped(episode.begin, episode.env_id, *lists, episode.done, episode.end)


def _is_of(step: Step, event: Event) -> bool:
    match event:
        case KeyEvent(keysym=key, down=True):
            keys = [*(step.keys or []), *(keysym(one) for one in step.type or "" if one.isprintable())]
            return key in map(_unshifted, keys)
        case PointerEvent(x=x, y=y, buttonmask=mask):
            return step.click == [x, y] and mask != 0
        case _:
            return False


def _unshifted(key: int) -> int:
    """Return the key as it is recorded: without Shift, which is a key of its own."""
    return UNSHIFTED.get(key, key)


def jumps(values: Sequence[Sequence[float]]) -> list[float]:
    return [after - before for one in values for before, after in pairwise(one)]
