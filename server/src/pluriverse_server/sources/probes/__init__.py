"""Sources that are not on the screen: what a program writes, holds in memory, or says of its windows and widgets."""

from __future__ import annotations

from pluriverse_server.manifest.sources import (
    AccessibilitySource,
    FileSource,
    LogSource,
    MemorySource,
    ProcessSource,
    Source,
)
from pluriverse_server.sources.reading import Probe

from .accessibility import AccessibilityProbe
from .file import FileProbe
from .log import LogProbe
from .memory import MemoryProbe
from .process import ExitProbe, TitleProbe
from .target import Output, Target

__all__ = ["Output", "Target", "make_probe"]


def make_probe(name: str, table: Source, target: Target) -> Probe:
    """What reads the source ``name``. Make it before the program starts: what is in logs already counts as old."""
    match table:
        case LogSource():
            return LogProbe(name, table, target)
        case FileSource():
            return FileProbe(name, table, target)
        case MemorySource():
            return MemoryProbe(name, table, target)
        case AccessibilitySource():
            return AccessibilityProbe(name, table, target)
        case ProcessSource():
            return ExitProbe(target) if table.read == "exit" else TitleProbe(name, table, target)
        case _:
            raise ValueError(f"source {name!r} is read from the screen, expected one that isn't")
