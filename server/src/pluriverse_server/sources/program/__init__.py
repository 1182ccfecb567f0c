"""Sources beside the screen: a program's log, files, memory, exit code and widgets. One module each."""

from __future__ import annotations

from pluriverse_server.manifest import sources as tables

from .accessibility import AccessibilityReader
from .file import FileReader
from .log import LogReader
from .memory import MemoryReader
from .reader import ExitReader, ProgramOutput, ProgramReader, Target

__all__ = ["ProgramOutput", "ProgramReader", "Target", "make_program_reader"]


def make_program_reader(table: tables.Source, target: Target) -> ProgramReader:
    """Make a source's reader. Make it before the program starts: existing log lines count as old."""
    match table:
        case tables.LogSource():
            return LogReader(table, target)
        case tables.FileSource():
            return FileReader(table, target)
        case tables.MemorySource():
            return MemoryReader(table, target)
        case tables.AccessibilitySource():
            return AccessibilityReader(table, target)
        case tables.ProcessSource():
            return ExitReader(target)
        case _:
            raise TypeError(f"no reader of {type(table).__name__}")
