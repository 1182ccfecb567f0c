"""Reads a runtime's sources now, while its remote may still run with those that it had before. Blocking."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.sources import AnySource, PythonSource, ScreenSource
from pluriverse_server.scraper.reader_thread import PictureReader, ReaderThread
from pluriverse_server.sources.program import ProgramOutput, ProgramReader, make_program_reader
from pluriverse_server.sources.reading import Pixels, ScreenReader, SourceError, SourceHangs
from pluriverse_server.sources.screen import make_reader
from pluriverse_server.sources.screen.grab import require_on_screen

from .looked_at import LookedAt

# Of the file in which the program's output is kept, the last of it is shown.
SHOWN_BYTES: Final = 16 * 1024


class LiveSources:
    """Readers of the sources as runtime.toml has them now; those of a program end with it."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is the runtime's, with its pictures."""
        self._folder = folder
        self._lock = threading.Lock()
        self._screen: dict[str, tuple[ScreenSource, ScreenReader]] = {}
        self._python: dict[str, PythonFunction] = {}
        self._program: LookedAt | None = None
        self._readers: dict[str, tuple[AnySource, ProgramReader]] = {}
        self._output = ProgramOutput()
        self._printed = 0

    def read(self, game: GameTables, screen: Pixels, program: LookedAt | None) -> dict[str, dict[str, Any]]:
        """Return each source's value, and how sure it is, or why it can't be read."""
        with self._lock:
            self._follow(program)
            return {name: self._read(name, table, screen) for name, table in game.sources.items()}

    def printed(self, program: LookedAt | None) -> str:
        """Return the end of what the program has printed."""
        with self._lock:
            self._follow(program)
            end = self._output.end
            return self._output.read(max(0, end - SHOWN_BYTES), SHOWN_BYTES).decode(errors="replace")

    def close(self) -> None:
        """Let go of the program, and of the files that readers have."""
        with self._lock:
            self._follow(None)
            self._screen.clear()
            for function in self._python.values():
                function.close()
            self._python.clear()

    def _follow(self, program: LookedAt | None) -> None:
        if (program and program.pid) != (self._program and self._program.pid):
            for _, reader in self._readers.values():
                reader.close()
            self._readers.clear()
            self._output, self._printed = ProgramOutput(), 0
        self._program = program
        if program is not None:
            # A program that prints nothing has no such file.
            with contextlib.suppress(OSError), program.printed.open("rb") as file:
                file.seek(self._printed)
                data = file.read()
                self._printed += len(data)
                self._output.write(data)

    def _read(self, name: str, table: AnySource, screen: Pixels) -> dict[str, Any]:
        try:
            if isinstance(table, ScreenSource):
                x, y, width, height = table.region
                require_on_screen(name, table.region, screen.shape[1], screen.shape[0])
                value, sure = self._screen_reader(name, table).read(screen[y : y + height, x : x + width])
                return {"value": value, "sure": round(sure, 3)}
            reader = self._program_reader(name, table)
            return {"value": reader.look() if reader is not None else None, "sure": 1.0}
        except SourceError as error:
            return {"value": None, "sure": 0.0, "problem": str(error)}

    def _screen_reader(self, name: str, table: ScreenSource) -> ScreenReader:
        if isinstance(table, PythonSource):
            return self._function(name, table)
        known = self._screen.get(name)
        if known is None or known[0] != table:
            known = self._screen[name] = table, make_reader(name, table, self._folder)
        return known[1]

    def _function(self, name: str, table: PythonSource) -> PythonFunction:
        known = self._python.get(name)
        if known is None or not known.is_of(table):
            if known is not None:
                known.close()
                del self._python[name]
            known = self._python[name] = PythonFunction(name, table, self._folder)
        return known

    def _program_reader(self, name: str, table: AnySource) -> ProgramReader | None:
        if self._program is None:
            return None
        known = self._readers.get(name)
        if known is None or known[0] != table:
            if known is not None:
                known[1].close()
            known = self._readers[name] = table, make_program_reader(table, self._program.target(self._output))
        return known[1]


class PythonFunction(ScreenReader):
    """A function of the runtime's own, in a thread: one that hangs isn't called again until its file changes."""

    def __init__(self, name: str, table: PythonSource, folder: Path) -> None:
        self._table = table
        self._path = folder / table.file
        self._written = _written(self._path)
        self._pictures = PictureReader(make_reader(name, table, folder))
        self._thread = ReaderThread(name, table, self._pictures)
        self._hangs: SourceHangs | None = None

    def is_of(self, table: PythonSource) -> bool:
        """Return whether it is what the table and the file have now."""
        return table == self._table and _written(self._path) == self._written

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """See ``ScreenReader``; raise SourceError if it fails, or hangs."""
        if self._hangs is not None:
            raise self._hangs
        self._pictures.show(pixels, 0.0)
        try:
            sample = self._thread.await_now()
        except SourceHangs as error:
            self._hangs = error
            raise
        return sample.value, sample.confidence

    def close(self) -> None:
        """End the thread as soon as the function returns."""
        self._thread.close()


def _written(path: Path) -> int:
    """Return when a file was last written; 0 if it is away, which its reader says."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def sources_of(game: GameTables, read: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sources for the page: name, region if any, whether they are rewarded, and what is ``read`` of them."""
    rewarded = {reward.source for reward in game.rewards}
    return [
        {
            "name": name,
            "from": table.from_,
            "region": table.region if isinstance(table, ScreenSource) else None,
            "reward": name in rewarded,
            **read.get(name, {}),
        }
        for name, table in game.sources.items()
    ]
