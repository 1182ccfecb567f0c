"""Takes the crops that glyphs are learnt from out of a runtime's labelled recordings, and writes the glyph file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from pluriverse_server.conditions import Value
from pluriverse_server.manifest_sources import ANYTHING, PLAIN, NumberSource, TextSource
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


def learn_source(directory: Path, name: str, source: NumberSource | TextSource, characters: str | None) -> Learnt:
    """Make the glyph file that ``source`` names, of what the runtime's recordings were labelled with.

    ``characters`` are those that have to be among them; None: the digits for a number, whatever there is for a text.

    Raises:
        LabelsError: labels can't be used.
        LearnError: there are none of this source, or no glyphs can be made of them.
        MalformedRecording: a recording is damaged.
        OSError: a recording can't be read, or the file can't be written.
    """
    line = source.written if isinstance(source, NumberSource) else PLAIN
    if ANYTHING in line:
        raise LearnError(
            f"{name} is written {line!r}: what stands for {ANYTHING} can't be learnt; learn the glyphs of a source "
            "that reads all of the line as text, or a line without it, and name their file"
        )
    crops: list[tuple[Pixels, str]] = []
    for recording in sorted((directory / RECORDINGS).glob(f"*{SUFFIX}")):
        if labels_path(recording).exists():
            steps = read_labels(labels_path(recording)).sources.get(name, [])
            crops += [(crop, line.replace(PLAIN, text)) for crop, text in crops_of(recording, steps, source.region)]
    if not crops:
        raise LearnError(
            f"no recording in {directory / RECORDINGS} says what {name} was; make one with pluriverse-server record, "
            "and say it with pluriverse-server label"
        )
    needed = characters if characters is not None else DIGITS if isinstance(source, NumberSource) else ""
    glyphs = learn(crops[:MAX_CROPS], needed)
    path = directory / (source.glyphs or f"glyphs/{name}.png")
    glyphs.save(path)
    return Learnt(path, "".join(sorted(set(glyphs.characters))), len(crops[:MAX_CROPS]))


def crops_of(recording: Path, steps: Steps, region: Sequence[int]) -> list[tuple[Pixels, str]]:
    """A crop of ``region`` for each value that was labelled, with the value as it's written; a None has no crop.

    Raises:
        MalformedRecording: it is no recording.
        OSError: it can't be read.
    """
    x, y, width, height = region
    crops: list[tuple[Pixels, str]] = []
    pending = list(reversed(_moments(steps)))
    crop: Pixels = np.zeros((height, width, 4), np.uint8)
    for moment in Replay(recording).moments():
        # What held at a time is the picture before the first moment after it.
        while pending and pending[-1][0] < moment.at:
            crops.append((crop, pending.pop()[1]))
        if moment.changed:
            crop = moment.frame[y : y + height, x : x + width].copy()
    return [*crops, *((crop, text) for _, text in reversed(pending))]


def _moments(steps: Steps) -> list[tuple[float, str]]:
    """When to look for each labelled value, and how it is written there."""
    ends = [at for at, _ in steps[1:]] + [math.inf]
    return [
        (at + min(SETTLED_S, (end - at) / 2), _written(value))
        for (at, value), end in zip(steps, ends, strict=True)
        if value is not None
    ]


def _written(value: Value) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
