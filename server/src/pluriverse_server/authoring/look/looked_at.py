"""The program that is looked at, as it runs below a scraper: its process, its HOME, its bus and what it prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from pluriverse_server.scraper.play import PRINTED
from pluriverse_server.sources.program import ProgramOutput, Target

KEEPER: Final = "pluriverse_server.scraper.keeper"

# What tells a program of its private bus.
BUS_VARIABLES: Final = ("DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS")


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A running program: its process ``pid``, and the environment that it was started with."""

    pid: int
    environment: Mapping[str, str]

    @classmethod
    def find(cls, root: int | None = None) -> LookedAt | None:
        """Return the program that a scraper below process ``root`` (None: this one) runs; None while there is none."""
        try:
            below = psutil.Process(root).children(recursive=True)
        except psutil.Error:
            return None
        for keeper in below:
            try:
                if KEEPER not in keeper.cmdline():
                    continue
                # Orphans of the program are the keeper's children too, and came later.
                program = min(keeper.children(), key=psutil.Process.create_time, default=None)
                if program is not None:
                    return cls(program.pid, program.environ())
            except psutil.Error:
                continue
        return None

    @property
    def home(self) -> Path:
        """Its HOME, which is its own."""
        return Path(self.environment.get("HOME", "/nonexistent"))

    @property
    def printed(self) -> Path:
        """What it has printed so far, if its scraper keeps that."""
        return self.home.parent / PRINTED

    @property
    def bus(self) -> dict[str, str]:
        """The variables that name its bus; none if it has none."""
        return {name: self.environment[name] for name in BUS_VARIABLES if name in self.environment}

    @property
    def pids(self) -> list[int]:
        """The processes of the program, itself first."""
        try:
            return [self.pid, *(child.pid for child in psutil.Process(self.pid).children(recursive=True))]
        except psutil.Error:
            return []

    def target(self, output: ProgramOutput | None = None) -> Target:
        """Return the program as its sources' readers see it."""
        return Target(lambda: self.pid, self.home, output or ProgramOutput(), lambda: None, self.environment)

    def written_files(self) -> list[Path]:
        """Return the files that its processes write to, outside of HOME too."""
        found: set[Path] = set()
        for pid in self.pids:
            try:
                found |= {Path(file.path) for file in psutil.Process(pid).open_files() if file.mode != "r"}
            except psutil.Error:
                continue
        return sorted(found)
