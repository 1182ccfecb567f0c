"""All sources of one play, on its screen and beside it, settled into readings."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.sources import FileSource, ProcessSource, PythonSource, TaskSource
from pluriverse_server.sources.program import Target, make_program_reader
from pluriverse_server.sources.reading import Pixels, Reading, ReadingState, Sample
from pluriverse_server.sources.screen import make_reader
from pluriverse_server.sources.screen.grab import Grabber, require_on_screen
from pluriverse_server.sources.settle import Settlers
from pluriverse_server.sources.task import Assignment, TaskReader

from .descriptors import NotKept
from .reader_thread import QUICK_S, PictureReader, ReaderThread

_UNREAD: Final = Reading()


@dataclass(frozen=True, slots=True)
class Cycle:
    """One read of all sources at UNIX time ``at``: ``readings`` by name. It took ``seconds``."""

    at: float
    readings: Mapping[str, Reading]
    seconds: float


@dataclass(frozen=True, slots=True)
class KeptReadings:
    """What was known of all sources at a moment."""

    settlers: object
    readings: Mapping[str, Reading]


class SourceReader:
    """Reads all sources of a game; each ``read`` is a cycle."""

    def __init__(
        self,
        game: GameTables,
        directory: Path,
        target: Target,
        display: str,
        screen_memory: Pixels | None = None,
        assignment: Assignment | None = None,
    ) -> None:
        """``directory`` is the runtime's; the display's cookie comes from XAUTHORITY.

        ``screen_memory``: where the X server keeps its screen, which ``read_still`` reads. ``assignment``: the task of
        a game that has one.
        """
        screen = game.screen_sources
        others = {name: table for name, table in game.sources.items() if name not in screen}
        self._tables = game.sources
        self._assignment = assignment
        self._settlers = Settlers(game.sources)
        self._readings: dict[str, Reading] = dict.fromkeys(game.sources, _UNREAD)
        self._screen = {name: make_reader(name, table, directory) for name, table in screen.items()}
        # A runtime's own code may take its time, or hang: it is given pictures in a thread.
        self._pictures = {
            name: PictureReader(self._screen[name]) for name, table in screen.items() if isinstance(table, PythonSource)
        }
        readers = {
            name: TaskReader(assignment, target, display, screen_memory)
            if assignment is not None and isinstance(table, TaskSource)
            else make_program_reader(table, target)
            for name, table in others.items()
        }
        regions = [table.region for table in screen.values()]
        self._grabber = Grabber(display, regions, list(screen)) if screen and screen_memory is None else None
        self._views: list[Pixels] | None = None
        if screen_memory is not None:
            height, width = screen_memory.shape[:2]
            for name, region in zip(screen, regions, strict=True):
                require_on_screen(name, region, width, height)
            self._views = [screen_memory[y : y + height, x : x + width] for x, y, width, height in regions]
        self._threads = {
            name: ReaderThread(name, game.sources[name], reader)
            for name, reader in {**readers, **self._pictures}.items()
        }

    def begin(self) -> None:
        """Begin an episode: forget earlier readings, and accept only plausible ones from now on."""
        self._settlers.begin()
        self._readings = dict.fromkeys(self._readings, _UNREAD)

    def leave(self) -> None:
        """End an episode: accept any reading until the next, since scores fall to 0 and lives rise again."""
        self._settlers.leave()

    async def read(self, *, screen: bool = True) -> Cycle:
        """Read every source once; late ones keep their last reading. Without ``screen`` those on it keep theirs too."""
        at, started = time.time(), time.monotonic()
        for name, thread in self._threads.items():
            if name not in self._pictures:
                thread.ask()
        if screen and self._grabber is not None:
            self._read_screen(at, self._grabber.grab())
        quick = [thread.answer for thread in self._threads.values() if thread.answer is not None and thread.is_quick]
        if any(not answer.done() for answer in quick):
            await asyncio.wait(quick, timeout=QUICK_S)
        for name, thread in self._threads.items():
            sample = thread.take()
            if sample is not None:
                self._readings[name] = self._settlers.feed(name, sample)
            else:
                last = self._readings[name]
                self._readings[name] = replace(
                    last, state=ReadingState.LATE if thread.is_late else last.state, events=0
                )
        return Cycle(at, dict(self._readings), time.monotonic() - started)

    def read_still(self, at: float, *, screen: bool = True) -> Cycle:
        """Read every source once, of a program that is paused at UNIX time ``at``: no reading is late. Blocking."""
        started = time.monotonic()
        if screen and self._views is not None:
            self._read_screen(at, self._views, still=True)
        elif screen and self._grabber is not None:
            self._read_screen(at, self._grabber.grab(), still=True)
        for name, thread in self._threads.items():
            if name not in self._pictures:
                # A check may hang.
                is_due = self._assignment is None or self._assignment.due()
                checks = is_due and isinstance(self._tables[name], TaskSource)
                sample = thread.await_now() if checks else thread.read_now()
                self._readings[name] = self._settlers.feed(name, replace(sample, at=at, lag_s=0.0))
        return Cycle(at, dict(self._readings), time.monotonic() - started)

    def _read_screen(self, at: float, regions: Sequence[Pixels], *, still: bool = False) -> None:
        for (name, reader), pixels in zip(self._screen.items(), regions, strict=True):
            if (picture := self._pictures.get(name)) is not None:
                # What is still is the X server's own memory, which changes.
                picture.show(pixels.copy() if still else pixels, at)
                if not still:
                    self._threads[name].ask()
                    continue
                sample = replace(self._threads[name].await_now(), lag_s=0.0)
            else:
                began = time.monotonic()
                value, confidence = reader.read(pixels)
                sample = Sample(value, at, confidence, lag_s=0.0 if still else time.monotonic() - began)
            self._readings[name] = self._settlers.feed(name, sample)

    def keep(self) -> KeptReadings:
        """Return what is known by now, for ``go_back``; raise NotKept if a source can't go back."""
        for name, table in self._tables.items():
            goes_back = name in self._screen or isinstance(table, FileSource | ProcessSource | TaskSource)
            if isinstance(table, PythonSource) or not goes_back:
                raise NotKept(f"the source {name!r} can't go back")
        return KeptReadings(self._settlers.keep(), dict(self._readings))

    def go_back(self, kept: KeptReadings) -> None:
        self._settlers.go_back(kept.settlers)
        self._readings = dict(kept.readings)

    def close(self) -> None:
        if self._grabber is not None:
            self._grabber.close()
        for thread in self._threads.values():
            thread.close()


def changed(cycle: Cycle, reported: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the readings of ``cycle`` that differ from ``reported``, which is updated; as in ``reports.Readings``."""
    changes: dict[str, Any] = {}
    for name, reading in cycle.readings.items():
        new = reading.as_json()
        if new["events"] or {**reported.get(name, {}), "lag_ms": 0} != {**new, "lag_ms": 0}:
            changes[name] = reported[name] = new
    return changes
