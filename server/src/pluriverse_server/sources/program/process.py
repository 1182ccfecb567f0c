"""The ``process`` source: a program's exit code."""

from __future__ import annotations

from pluriverse_server.manifest.conditions import Value

from .reader import ProgramReader, Target


class ExitReader(ProgramReader):
    """Reads a program's exit code: None while it runs; negative: the signal that ended it."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def look(self) -> Value:
        return self._target.exit_code()
