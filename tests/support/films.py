"""Stands in for MoviePy, with which Gymnasium's wrappers write films, and which wants an older Pillow than ours."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any
from unittest import mock


@dataclass(frozen=True, slots=True)
class Film:
    """One that was written."""

    frames: list[Any]
    fps: float
    path: str


@contextlib.contextmanager
def films() -> Generator[list[Film]]:
    """Within this, films are kept in the list instead of written."""
    written: list[Film] = []

    class ImageSequenceClip:
        def __init__(self, sequence: list[Any], fps: float) -> None:
            self._frames, self._fps = list(sequence), fps

        def write_videofile(self, filename: str, logger: str | None = None) -> None:
            del logger
            written.append(Film(self._frames, self._fps, filename))

    clip = types.ModuleType("moviepy.video.io.ImageSequenceClip")
    clip.__dict__["ImageSequenceClip"] = ImageSequenceClip
    names = ("moviepy", "moviepy.video", "moviepy.video.io")
    with mock.patch.dict(sys.modules, {**{name: types.ModuleType(name) for name in names}, clip.__name__: clip}):
        yield written
