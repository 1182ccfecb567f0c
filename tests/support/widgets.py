"""gnome-2048, whose widgets are read, on a screen and a bus of its own."""

import contextlib
import subprocess
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from pluriverse_server.manifest.sources import AccessibilitySource
from pluriverse_server.sources.program import Target, make_program_reader
from pluriverse_server.sources.program.accessibility import AccessibilityReader
from pluriverse_server.sources.program.bus import AccessibilityBus
from support.program import target
from support.xvfb import Xvfb, xvfb

GAME = Path("/usr/games/gnome-2048")


@contextlib.contextmanager
def bus_for(folder: Path, env: Mapping[str, str]) -> Generator[AccessibilityBus]:
    """A bus, from a plain test: its loop runs in a thread."""
    with start_blocking_portal() as portal:
        bus = portal.call(AccessibilityBus.start, folder, env)
        try:
            yield bus
        finally:
            portal.call(bus.stop)


def reader_of(place: Target, **table: Any) -> AccessibilityReader:
    reader = make_program_reader(AccessibilitySource.model_validate({"from": "accessibility", **table}), place)
    assert isinstance(reader, AccessibilityReader)
    return reader


class Played:
    """gnome-2048 on a screen and a bus of its own."""

    def __init__(self, screen: Xvfb, home: Path, bus: AccessibilityBus) -> None:
        self.bus = bus
        # What it would write to is the person's who runs the tests.
        self.environment = {**screen.environment, "HOME": str(home), "GSETTINGS_BACKEND": "memory", **bus.environment}
        self.screen = screen
        self.program: subprocess.Popen[bytes] | None = None
        self.target = Target(
            lambda: self.program.pid if self.program else None,
            home,
            target(home).output,
            lambda: None,
            self.environment,
        )

    def start(self) -> None:
        self.program = subprocess.Popen([GAME], env=self.environment, stderr=subprocess.DEVNULL)

    def stop(self) -> None:
        if self.program is not None:
            self.program.kill()
            self.program.wait()

    def reader(self, **table: Any) -> AccessibilityReader:
        return reader_of(self.target, **table)


@contextlib.contextmanager
def playing(home: Path) -> Generator[Played]:
    """The program, started with this HOME."""
    with xvfb() as screen, bus_for(home, {**screen.environment, "HOME": str(home)}) as bus:
        played = Played(screen, home, bus)
        played.start()
        yield played
        played.stop()
