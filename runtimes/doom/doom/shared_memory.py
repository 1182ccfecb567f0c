"""Shared memory of engines that were killed: 11 MB each, which nobody else takes away."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Final

FOLDER: Final = Path("/dev/shm")  # noqa: S108 - POSIX shared memory has no other place

# An engine's segments are there for a moment before it maps them; this is many times as long.
YOUNG_S: Final = 60.0


def sweep(folder: Path = FOLDER, now: float | None = None) -> list[str]:
    """Remove the segments of this user's engines that no process has mapped; returns their names."""
    now = time.time() if now is None else now
    segments: dict[str, Path] = {}
    for path in folder.glob("ViZDoom*"):
        with contextlib.suppress(FileNotFoundError):
            state = path.stat()
            if state.st_uid == os.getuid() and now - state.st_mtime > YOUNG_S:
                segments[path.name] = path
    if segments:
        for name in _mapped(folder):
            segments.pop(name, None)
    for path in segments.values():
        path.unlink(missing_ok=True)
    return sorted(segments)


def _mapped(folder: Path) -> set[str]:
    """The names of files in the folder that some process of this user has mapped."""
    names: set[str] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        # Processes end while they are looked at, and others' can't be looked into: neither has segments of ours.
        with contextlib.suppress(OSError):
            for line in maps.read_text().splitlines():
                place = line.partition("/")[2]
                if ("/" + place).startswith(f"{folder}/"):
                    names.add(Path(place.removesuffix(" (deleted)")).name)
    return names
