"""Reads a runtime's sources now, while its remote may still run with those that it had before. Blocking."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.sources import AnySource, ScreenSource
from pluriverse_server.sources.program import ProgramOutput, ProgramReader, make_program_reader
from pluriverse_server.sources.reading import Pixels, ScreenReader, SourceError
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
        known = self._screen.get(name)
        if known is None or known[0] != table:
            known = self._screen[name] = table, make_reader(name, table, self._folder)
        return known[1]

    def _program_reader(self, name: str, table: AnySource) -> ProgramReader | None:
        if self._program is None:
            return None
        known = self._readers.get(name)
        if known is None or known[0] != table:
            if known is not None:
                known[1].close()
            known = self._readers[name] = table, make_program_reader(table, self._program.target(self._output))
        return known[1]


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
