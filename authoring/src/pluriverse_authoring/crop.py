"""Cuts a picture out of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from pluriverse_protocol.recordings import MalformedRecording
from pluriverse_server.sources.reading import Pixels

from pluriverse_authoring import AuthoringError
from pluriverse_authoring.recording.replay import Replay

from .labels import game_of


def crop(
    recording: Path, picture: Path, *, at: float, source: str | None, region: Sequence[int] | None
) -> tuple[int, int]:
    """Write the screen ``at`` that many seconds as a PNG; return its width and height.

    Cuts out the region of a ``source``, or a ``region`` (x, y, width, height), or else nothing.
    """
    try:
        replay = Replay(recording)
        x, y, width, height = _place(recording, replay, source, region)
        frame = _frame(replay, at)[y : y + height, x : x + width, 2::-1]
        picture.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.ascontiguousarray(frame)).save(picture, "png")
    except MalformedRecording as error:
        raise AuthoringError(f"{recording}: {error}") from error
    except OSError as error:
        raise AuthoringError(f"{error.filename or picture}: {error.strerror or error}") from error
    return width, height


def _place(recording: Path, replay: Replay, source: str | None, region: Sequence[int] | None) -> Sequence[int]:
    screen = (replay.header.width, replay.header.height)
    if source is not None:
        if region is not None:
            raise AuthoringError("expected --source or --region, not both")
        sources = game_of(recording, replay.header).screen_sources
        if source not in sources:
            there = ", ".join(sources) or "none"
            raise AuthoringError(f"{source!r} isn't a source on the screen; expected one of: {there}")
        region = sources[source].region
    x, y, width, height = region if region is not None else (0, 0, *screen)
    if min(x, y) < 0 or min(width, height) < 1 or x + width > screen[0] or y + height > screen[1]:
        raise AuthoringError(f"{width}x{height} pixels at ({x}, {y}) aren't on the screen of {screen[0]}x{screen[1]}")
    return x, y, width, height


def _frame(replay: Replay, at: float) -> Pixels:
    """Return the screen at that moment: before the first later record."""
    frame = replay.frame.copy()
    last = 0.0
    for moment in replay.moments():
        if moment.at > at:
            return frame
        last = moment.at
        if moment.changed:
            frame = moment.frame.copy()
    if at > last:
        raise AuthoringError(f"the recording ends after {last:.2f} s; expected --at within it")
    return frame
