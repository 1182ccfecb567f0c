"""What a recording shows: every source's sample in every cycle, read once, whatever the rules then make of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from pluriverse_protocol.recordings import Header
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.sources.reading import Sample
from pluriverse_server.sources.screen import make_reader

from pluriverse_authoring.recording.replay import Moment, Replay

# Further looks at the last picture, so that it can settle: more than sources may require.
LAST_LOOKS: Final = 10

# A VNC server shows a frame some milliseconds after X has it; reports about it must not come before.
SCREEN_LAG_S: Final = 0.02

# How often progress is reported, in seconds of the recording.
PROGRESS_S: Final = 1.0

Said = tuple[float, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Cycle:
    """The samples of one time, and the reports since the previous cycle, without readings."""

    at: float
    said: Sequence[Said]
    samples: Mapping[str, Sample]


@dataclass(frozen=True, slots=True)
class Samples:
    """A whole recording. ``live``: the sources that were read when it was made, by their environments."""

    header: Header
    cycles: Sequence[Cycle]
    live: Mapping[str, frozenset[str]]

    @property
    def seconds(self) -> float:
        return self.cycles[-1].at

    def said(self) -> Iterator[Said]:
        for cycle in self.cycles:
            yield from cycle.said


def read_samples(
    directory: Path, manifest: Manifest, replay: Replay, on_progress: Callable[[float], None] = lambda seconds: None
) -> Samples:
    """Read a recording by the present sources; ``on_progress`` gets the seconds read so far."""
    header = replay.header
    env_id = header.env_id
    sources = _Sources(directory, manifest.game(env_id))
    live: dict[str, set[str]] = {env_id: set()}
    cycles: list[Cycle] = []
    waiting: deque[Said] = deque()
    shown = 0.0
    for moment in replay.cycles(header.fps, last_looks=LAST_LOOKS):
        waiting += moment.said
        due: list[Said] = []
        while waiting and waiting[0][0] + SCREEN_LAG_S <= moment.at:
            at, said = waiting.popleft()
            match said:
                case {"report": "readings", "readings": dict()}:
                    readings = cast("Mapping[str, Any]", said["readings"])
                    live[env_id].update(readings)
                    sources.hear(readings)
                    continue
                case {"event": "begin", "env": str(begun)} if begun != env_id:
                    env_id = begun
                    live.setdefault(env_id, set())
                    sources = _Sources(directory, manifest.game(env_id))
                case _:
                    pass
            due.append((at, said))
        cycles.append(Cycle(moment.at, due, sources.read(moment)))
        if moment.at - shown >= PROGRESS_S:
            shown = moment.at
            on_progress(shown)
    return Samples(header, cycles, {name: frozenset(read) for name, read in live.items()})


class _Sources:
    """One environment's sources: those on the screen are read, the others are recalled."""

    def __init__(self, directory: Path, game: GameTables) -> None:
        self._names = list(game.sources)
        self._screen = {
            name: (table.region, make_reader(name, table, directory)) for name, table in game.screen_sources.items()
        }
        self._heard: dict[str, Mapping[str, Any]] = {}

    def hear(self, readings: Mapping[str, Any]) -> None:
        """Take the recorded readings of sources that aren't on the screen."""
        for name, reading in readings.items():
            if name not in self._screen and isinstance(reading, Mapping):
                events = _number(self._heard.get(name, {}).get("events"))
                events += _number(cast("Mapping[str, Any]", reading).get("events"))
                self._heard[name] = {**reading, "events": events}

    def read(self, moment: Moment) -> dict[str, Sample]:
        return {
            name: self._look(name, moment) if name in self._screen else self._recall(name, moment.at)
            for name in self._names
        }

    def _look(self, name: str, moment: Moment) -> Sample:
        (x, y, width, height), reader = self._screen[name]
        value, confidence = reader.read(moment.frame[y : y + height, x : x + width])
        return Sample(value, moment.at, confidence)

    def _recall(self, name: str, at: float) -> Sample:
        heard = self._heard.get(name)
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


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
