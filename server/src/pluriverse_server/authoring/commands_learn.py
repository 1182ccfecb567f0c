"""Takes the crops that glyphs are learnt from out of a runtime's labelled recordings, and writes the glyph file."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from pluriverse_protocol.recordings import MalformedRecording, TruncatedRecording

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.runtime import load
from pluriverse_server.manifest.sources import ANYTHING, PLAIN, NumberSource, TextSource
from pluriverse_server.programs.catalogue import load_catalogue, require_environment
from pluriverse_server.recording.file import SUFFIX
from pluriverse_server.recording.replay import Replay
from pluriverse_server.sources.reading import Pixels

from .labels import Steps, labels_path, read_labels
from .learn import DIGITS, MAX_CROPS, LearnError, learn

# Where a recording's runtime keeps them.
RECORDINGS: Final = "recordings"

# A value is looked at this long after it has come: by then the frame that it came with is whole.
SETTLED_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learnt: the file, its characters, and how many crops it reads as they are labelled."""

    path: Path
    characters: str
    crops: int


@dataclass(frozen=True, slots=True, eq=False)
class Crop:
    """What a source's region showed of a value that was labelled ``at`` that many seconds, and how that is written."""

    at: float
    pixels: Pixels
    text: str


def learn_source(directory: Path, name: str, env_id: str | None = None, characters: str | None = None) -> Learnt:
    """Make the glyph file that the source ``name`` asks for, of what the runtime's recordings were labelled with.

    ``env_id``: whose source it is, which has none but its own game's recordings; None: the runtime's default.
    ``characters`` are those that have to be among them; None: the digits for a number, whatever there is for a text.

    Raises:
        ManifestError: the runtime can't be used, or has no such environment.
        LabelsError: labels can't be used.
        LearnError: it is no source that reads characters, a recording is damaged, there are no labels of this source,
            or no glyphs can be made of them.
        OSError: a recording can't be read, or the file can't be written.
    """
    manifest = load(directory)
    env_id = require_environment(manifest, asyncio.run(load_catalogue(directory, manifest)), env_id)
    game = manifest.game(env_id)
    source = game.sources.get(name)
    if not isinstance(source, (NumberSource, TextSource)):
        readable = [name for name, other in game.sources.items() if isinstance(other, (NumberSource, TextSource))]
        raise LearnError(f"{name} reads no number or text; those that do are: {', '.join(readable) or 'none'}")
    line = source.written if isinstance(source, NumberSource) else PLAIN
    if ANYTHING in line:
        raise LearnError(
            f"{name} is written {line!r}: what stands for {ANYTHING} can't be learnt; learn the glyphs of a source "
            "that reads all of the line as text, or a line without it, and name their file"
        )
    crops: list[tuple[Pixels, str]] = []
    names: list[str] = []
    for recording in sorted((directory / RECORDINGS).glob(f"*{SUFFIX}")):
        if not labels_path(recording).exists():
            continue
        try:
            replay = Replay(recording)
            if manifest.game(replay.header.env_id) is not game:
                continue
            steps = read_labels(labels_path(recording)).sources.get(name, [])
            for crop in crops_of(replay, steps, source.region):
                crops.append((crop.pixels, line.replace(PLAIN, crop.text)))
                names.append(f"{recording.name} at {_clock(crop.at)}")
        except MalformedRecording as error:
            raise LearnError(f"{recording}: {error}") from error
    if not crops:
        whose = f"of {env_id} in" if manifest.games is not None else "in"
        raise LearnError(
            f"no recording {whose} {directory / RECORDINGS} says what {name} was; make one with pluriverse-server "
            "record, and say it with pluriverse-server label"
        )
    needed = characters if characters is not None else DIGITS if isinstance(source, NumberSource) else ""
    chosen: list[int] = np.linspace(0, len(crops) - 1, min(len(crops), MAX_CROPS)).astype(int).tolist()
    glyphs = learn([crops[index] for index in chosen], needed, [names[index] for index in chosen])
    path = directory / (source.glyphs or f"glyphs/{name}.png")
    glyphs.save(path)
    return Learnt(path, "".join(sorted(set(glyphs.characters))), len(chosen))


def crops_of(replay: Replay, steps: Steps, region: Sequence[int]) -> list[Crop]:
    """A crop of ``region`` for each value that was labelled; a None has none, nor has what came after the end.

    Raises:
        MalformedRecording: the recording is damaged; one whose end is missing is read up to there.
    """
    x, y, width, height = region
    crops: list[Crop] = []
    pending = list(reversed(_moments(steps)))
    pixels: Pixels = np.zeros((height, width, 4), np.uint8)
    last = 0.0
    for moment in replay.moments():
        # What held at a time is the picture before the first moment after it.
        while pending and pending[-1][0] < moment.at:
            _, at, text = pending.pop()
            crops.append(Crop(at, pixels, text))
        if moment.changed:
            pixels = moment.frame[y : y + height, x : x + width].copy()
        last = moment.at
    if replay.ended is not None and not isinstance(replay.ended, TruncatedRecording):
        raise replay.ended
    return [*crops, *(Crop(at, pixels, text) for _, at, text in reversed(pending) if at <= last)]


def _moments(steps: Steps) -> list[tuple[float, float, str]]:
    """When to look for each labelled value, since when it was there, and how it is written."""
    ends = [at for at, _ in steps[1:]] + [math.inf]
    return [
        (at + min(SETTLED_S, (end - at) / 2), at, _written(value))
        for (at, value), end in zip(steps, ends, strict=True)
        if value is not None
    ]


def _written(value: Value) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _clock(at: float) -> str:
    """A time as the page that labels shows it."""
    minutes, seconds = divmod(round(at, 3), 60)
    return f"{minutes:.0f}:{seconds:06.3f}"
