"""All sources of one play: what is on its screen and what its probes find, settled into readings."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.sources import ChangeSource, ScreenSource
from pluriverse_server.sources.probes import Target, make_probe
from pluriverse_server.sources.reading import Pixels, Reading, Sample, ScreenReader, State
from pluriverse_server.sources.screen import make_reader
from pluriverse_server.sources.screen.grab import Grabber
from pluriverse_server.sources.settle import Settler

from .probe_thread import QUICK_S, ProbeThread

_UNREAD: Final = Reading()


@dataclass(frozen=True, slots=True)
class Cycle:
    """Every source once: ``readings`` by name, of what was so at ``at`` (UNIX seconds); it took ``seconds``."""

    at: float
    readings: Mapping[str, Reading]
    seconds: float


class SourceReader:
    """A game's sources. ``read`` is a cycle."""

    def __init__(self, game: GameTables, directory: Path, target: Target, display: str) -> None:
        """``directory`` is the runtime's; the display's cookie is that of XAUTHORITY.

        Raises:
            SourceError: a source can't be read as its table says.
            ScreenLost: there is no X server at ``display``.
        """
        screen = {name: table for name, table in game.sources.items() if isinstance(table, ScreenSource)}
        others = {name: table for name, table in game.sources.items() if name not in screen}
        self._settlers = {name: Settler(table) for name, table in game.sources.items()}
        self._readings: dict[str, Reading] = dict.fromkeys(game.sources, _UNREAD)
        self._playing = False
        self._looks = {
            name: _Look(make_reader(name, table, directory), always=isinstance(table, ChangeSource))
            for name, table in screen.items()
        }
        probes = {name: make_probe(name, table, target) for name, table in others.items()}
        regions = [table.region for table in screen.values()]
        self._grabber = Grabber(display, regions, list(screen)) if screen else None
        self._probes = {name: ProbeThread(name, others[name], probe) for name, probe in probes.items()}

    def begin(self) -> None:
        """An episode begins: what was read before it is forgotten, and from now on all must be plausible."""
        self._playing = True
        for settler in self._settlers.values():
            settler.reset()
        self._readings = dict.fromkeys(self._readings, _UNREAD)

    def leave(self) -> None:
        """An episode has ended: scores fall to 0 and lives rise again, until the next begins."""
        self._playing = False

    async def read(self, *, screen: bool = True) -> Cycle:
        """Read every source once; those that are late keep their last reading. Without ``screen`` it stands still.

        Raises:
            SourceError: a source can't be read any more.
            ScreenLost: the X server is gone.
        """
        at, started = time.time(), time.monotonic()
        for probe in self._probes.values():
            probe.ask()
        if screen and self._grabber is not None:
            for (name, look), pixels in zip(self._looks.items(), self._grabber.grab(), strict=True):
                self._feed(name, look.read(pixels, at))
        quick = [probe.answer for probe in self._probes.values() if probe.answer is not None and probe.is_quick]
        if any(not answer.done() for answer in quick):
            await asyncio.wait(quick, timeout=QUICK_S)
        for name, probe in self._probes.items():
            sample = probe.take()
            if sample is not None:
                self._feed(name, sample)
            else:
                last = self._readings[name]
                self._readings[name] = replace(last, state=State.LATE if probe.is_late else last.state, events=0)
        return Cycle(at, dict(self._readings), time.monotonic() - started)

    def close(self) -> None:
        """Let go of screen and program."""
        if self._grabber is not None:
            self._grabber.close()
        for probe in self._probes.values():
            probe.close()

    def _feed(self, name: str, sample: Sample) -> None:
        settler = self._settlers[name]
        self._readings[name] = settler.feed(sample) if self._playing else settler.feed_between(sample)


class _Look:
    """A screen source's reader; what hasn't changed since the last cycle needn't be read again."""

    def __init__(self, reader: ScreenReader, *, always: bool) -> None:
        self._reader = reader
        self._always = always
        self._pixels: Pixels | None = None
        self._said: tuple[Value, float] = (None, 0.0)

    def read(self, pixels: Pixels, at: float) -> Sample:
        started = time.monotonic()
        if self._always or self._pixels is None or not np.array_equal(pixels, self._pixels):
            self._said = self._reader.read(pixels)
            self._pixels = pixels
        value, confidence = self._said
        return Sample(value, at, confidence, lag_s=time.monotonic() - started)


def changed(cycle: Cycle, told: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The readings of ``cycle`` that say something else than ``told``, which is brought up to date; for a report."""
    news: dict[str, Any] = {}
    for name, reading in cycle.readings.items():
        said = reading.as_json()
        if said["events"] or {**told.get(name, {}), "lag_ms": 0} != {**said, "lag_ms": 0}:
            news[name] = told[name] = said
    return news
