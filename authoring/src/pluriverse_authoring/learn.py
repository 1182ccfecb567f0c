"""Makes glyphs from labelled recordings: finds the ink and where glyphs end, and reads all crops to be sure.

The glyphs are those of the well cut crops; they are good if they read the crops as they are labelled. The few that they
don't are doubtful: labelled wrongly, half drawn, or covered.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.recording_file import SUFFIX
from pluriverse_protocol.recordings import MalformedRecording, TruncatedRecording
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.runtime import load
from pluriverse_server.manifest.sources import ANYTHING, PLAIN, NumberSource, TextSource
from pluriverse_server.programs.catalogue import load_catalogue, require_environment
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.glyphs import STRONG, Glyphs
from pluriverse_server.sources.screen.line import Line
from rich.console import Console
from rich.progress import track

from pluriverse_authoring import AuthoringError
from pluriverse_authoring.recording.replay import Replay

from .cutting import USUAL_REACH, Way, averaged, best_ways, sample_of
from .labels import LabelledValues, labels_path, read_labels

DIGITS: Final = "0123456789"

# A crop a second for a quarter of an hour; more teach nothing, and take seconds.
MAX_CROPS: Final = 1000

# How many pieces of each character are averaged.
MAX_SHOWN: Final = 60

# The confidence that sources ask for by default.
MIN_CONFIDENCE: Final = 0.8

LABEL_WELL: Final = "check that labels match the region exactly, and that the region has one line and nothing else"

# Glyphs that read less of the labelled crops aren't any.
MIN_CLEAR: Final = 0.75

# How many ways that read a sample best are tried on all crops.
FINALISTS: Final = 2

# The confidence beyond which glyphs aren't better.
CONTENT: Final = 0.97

# The folder of a runtime's recordings.
RECORDINGS: Final = "recordings"

# How long after its label a value is looked at: by then its frame is complete.
SETTLED_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Learnt:
    path: Path
    characters: str
    crops: int
    doubtful: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Crop:
    """A source's region at the value that is labelled at ``at`` seconds, and how the value is written."""

    at: float
    pixels: Pixels
    text: str


def learn_source(directory: Path, name: str, env_id: str | None = None, characters: str | None = None) -> Learnt:
    """Write the glyph file of the source ``name``, learnt from the runtime's labelled recordings.

    ``env_id``: the environment, whose game's recordings are used; None: the runtime's default. ``characters`` must be
    among the learnt ones; None: the digits for a number, any for a text.
    """
    manifest = load(directory)
    env_id = require_environment(manifest, asyncio.run(load_catalogue(directory, manifest)), env_id)
    game = manifest.game(env_id)
    source = game.sources.get(name)
    if not isinstance(source, (NumberSource, TextSource)):
        readable = [name for name, other in game.sources.items() if isinstance(other, (NumberSource, TextSource))]
        raise AuthoringError(f"{name} doesn't read a number or text; expected one of: {', '.join(readable) or 'none'}")
    line = source.written if isinstance(source, NumberSource) else PLAIN
    if ANYTHING in line:
        raise AuthoringError(
            f"{name} is written {line!r}: what stands for {ANYTHING} can't be learnt; learn the glyphs of a source "
            "that reads all of the line as text, or a line without it, and name their file"
        )
    crops: list[tuple[Pixels, str]] = []
    names: list[str] = []
    recordings = sorted((directory / RECORDINGS).glob(f"*{SUFFIX}"))
    for recording in track(recordings, "reading recordings", console=Console(stderr=True), transient=True):
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
            raise AuthoringError(f"{recording}: {error}") from error
    if not crops:
        whose = f"of {env_id} in" if manifest.games is not None else "in"
        raise AuthoringError(
            f"no recording {whose} {directory / RECORDINGS} has labels of {name}; make one with pluriverse-server "
            "record, and label it with pluriverse-server label"
        )
    needed = characters if characters is not None else DIGITS if isinstance(source, NumberSource) else ""
    chosen: list[int] = np.linspace(0, len(crops) - 1, min(len(crops), MAX_CROPS)).astype(int).tolist()
    names = [names[index] for index in chosen]
    lesson = learn([crops[index] for index in chosen], needed, names)
    path = directory / (source.glyphs or f"glyphs/{name}.png")
    lesson.glyphs.save(path)
    doubtful = tuple(f"{names[doubt.crop]} {doubt}" for doubt in lesson.doubts)
    return Learnt(path, "".join(sorted(set(lesson.glyphs.characters))), len(chosen), doubtful)


def crops_of(replay: Replay, steps: LabelledValues, region: Sequence[int]) -> list[Crop]:
    """Return a crop of ``region`` for each labelled value but None and those after the recording's end."""
    x, y, width, height = region
    crops: list[Crop] = []
    pending = list(reversed(_moments(steps)))
    pixels: Pixels = np.zeros((height, width, 4), np.uint8)
    last = 0.0
    for moment in replay.moments():
        # The picture of a time is the last one before the first later moment.
        while pending and pending[-1][0] < moment.at:
            _, at, text = pending.pop()
            crops.append(Crop(at, pixels, text))
        if moment.changed:
            pixels = moment.frame[y : y + height, x : x + width].copy()
        last = moment.at
    if replay.ended is not None and not isinstance(replay.ended, TruncatedRecording):
        raise replay.ended
    return [*crops, *(Crop(at, pixels, text) for _, at, text in reversed(pending) if at <= last)]


def _moments(steps: LabelledValues) -> list[tuple[float, float, str]]:
    """Return when to look for each labelled value, its label's time, and how it is written."""
    ends = [at for at, _ in steps[1:]] + [math.inf]
    return [
        (at + min(SETTLED_S, (end - at) / 2), at, _written(value))
        for (at, value), end in zip(steps, ends, strict=True)
        if value is not None
    ]


def _written(value: Value) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _clock(at: float) -> str:
    minutes, seconds = divmod(round(at, 3), 60)
    return f"{minutes:.0f}:{seconds:06.3f}"


@dataclass(frozen=True, slots=True)
class Doubt:
    crop: int
    label: str
    text: str
    confidence: float

    def __str__(self) -> str:
        return f"is labelled {self.label!r}, but reads {self.text!r} with a confidence of {self.confidence:.2f}"


@dataclass(frozen=True, slots=True)
class Lesson:
    glyphs: Glyphs
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True, slots=True)
class _Trial:
    way: Way
    glyphs: Glyphs
    right: int
    confidence: float
    doubts: tuple[Doubt, ...]


def learn(crops: Sequence[tuple[Pixels, str]], characters: str = DIGITS, names: Sequence[str] = ()) -> Lesson:
    """Return glyphs that read the crops as they are labelled, and the few doubtful crops that they don't.

    ``crops`` are pixels of one region, all of shape (height, width, 4), with their text as it is drawn, including
    signs, separators and spaces; leading zeros may be left out. ``characters`` must be among the learnt ones. ``names``
    name the crops in errors; by default they are numbered.
    """
    names = names or [f"crop {number}" for number in range(1, len(crops) + 1)]
    _check(crops, characters, names)
    labels = [label.strip() for _, label in crops]
    needed = {letter for label in labels for letter in label} - {" "}
    ways = best_ways([pixels for pixels, _ in crops], labels)
    trials, unusable = _tried(ways, crops, needed)
    if not trials:
        raise AuthoringError(
            f"no glyphs can be made of these crops: {unusable}; {LABEL_WELL}"
            if unusable
            else _nothing_found(ways, needed)
        )
    best = max(trials, key=_merit)
    if best.right < MIN_CLEAR * len(crops):
        raise AuthoringError(_misread(names, best.doubts, len(crops)))
    return Lesson(best.glyphs, best.doubts)


def _tried(ways: Iterable[Way], crops: Sequence[tuple[Pixels, str]], needed: set[str]) -> tuple[list[_Trial], str]:
    """Return how the ways that read a sample best read all crops, and what is wrong with one that can't be used."""
    sample = sample_of([label for _, label in crops])
    most = (1 - MIN_CLEAR) * len(sample)
    trials: list[_Trial] = []
    unusable = ""
    for way in ways:
        if way.characters >= needed:
            try:
                trials.append(_trial(way, _glyphs_of(way, crops[0][0].shape), crops, sample, most))
            except ValueError as error:
                # Parts of the background may be cut like glyphs, and be far too large for one.
                unusable = str(error)
    best = sorted(trials, key=_merit, reverse=True)
    # Those that weren't read to the end are no better.
    best = [trial for trial in best[:FINALISTS] if len(trial.doubts) <= most] or best[:1]
    return [_trial(trial.way, trial.glyphs, crops, range(len(crops)), len(crops)) for trial in best], unusable


def _merit(trial: _Trial) -> tuple[float, ...]:
    """Prefer, if all crops are read well, the usual reach, and then glyphs closer to their own colour."""
    glyphs = trial.glyphs
    drawn = np.concatenate([picture[picture >= STRONG] for picture in glyphs.pictures])
    unusual = abs(abs(glyphs.ink.full - glyphs.ink.none) - USUAL_REACH)
    return trial.right, min(trial.confidence, CONTENT), -unusual, float(drawn.mean())


def missing(labels: Sequence[str], characters: str = DIGITS) -> str:
    return "".join(letter for letter in characters if not any(letter in label for label in labels))


def _check(crops: Sequence[tuple[Pixels, str]], characters: str, names: Sequence[str]) -> None:
    if not crops or len(crops) > MAX_CROPS:
        raise AuthoringError(f"expected 1 to {MAX_CROPS} labelled crops, not {len(crops)}")
    shapes = Counter(pixels.shape for pixels, _ in crops)
    if len(shapes) > 1:
        odd = next(index for index, (pixels, _) in enumerate(crops) if pixels.shape != shapes.most_common(1)[0][0])
        height, width = crops[odd][0].shape[:2]
        raise AuthoringError(
            f"{names[odd]} ({crops[odd][1]!r}) has {width}x{height} pixels, unlike most others; expected crops of "
            "the source's region"
        )
    if lacking := missing([label for _, label in crops], characters):
        raise AuthoringError(
            f"no crop shows {', '.join(lacking)}; label moments that show each at least once, or list the characters "
            "that can appear"
        )
    if not any(label.strip() for _, label in crops):
        raise AuthoringError("all crops are labelled as empty; label moments with text in the region")


def _trial(way: Way, glyphs: Glyphs, crops: Sequence[tuple[Pixels, str]], chosen: Iterable[int], most: float) -> _Trial:
    """Read the chosen crops, until more than ``most`` are doubtful."""
    line = Line(glyphs)
    right, worst = 0, 1.0
    doubts: list[Doubt] = []
    for index in chosen:
        spelling = line.read(crops[index][0])
        worst = min(worst, spelling.confidence)
        if spelling.text == way.labels[index] and spelling.confidence >= MIN_CONFIDENCE:
            right += 1
        else:
            doubts.append(Doubt(index, crops[index][1].strip(), spelling.text, spelling.confidence))
            if len(doubts) > most:
                break
    return _Trial(way, glyphs, right, worst, tuple(doubts))


def _glyphs_of(way: Way, shape: tuple[int, ...]) -> Glyphs:
    shown: dict[str, list[tuple[int, NDArray[np.float32]]]] = {}
    for crop, (label, pieces) in enumerate(zip(way.labels, way.pieces, strict=True)):
        for letter, piece in zip(label.replace(" ", ""), pieces or (), strict=pieces is not None):
            shown.setdefault(letter, []).append((crop, piece.ink))
    shown = {letter: inks[:: 1 + len(inks) // MAX_SHOWN] for letter, inks in shown.items()}
    inked = [(ink >= STRONG).any(axis=1) for inks in shown.values() for _, ink in inks]
    rows = np.flatnonzero(np.any(inked, axis=0))
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    drawn = [(letter, picture) for letter in sorted(shown) for picture in averaged(shown[letter], top, bottom)]
    return Glyphs(
        characters="".join(letter for letter, _ in drawn),
        pictures=tuple(picture for _, picture in drawn),
        ink=way.ink,
        region=(shape[1], shape[0]),
        top=top,
        space=_space(way, [picture.shape[1] for letter, picture in drawn if letter.isalnum()]),
        spaced=any(" " in label for label in way.labels),
    )


def _space(way: Way, widths: Sequence[int]) -> int:
    """Return how many columns without ink are a space, from the gaps between glyphs with and without one."""
    within, between = 0, 0
    for label, pieces in zip(way.labels, way.pieces, strict=True):
        if pieces is None:
            continue
        letters = [index for index, letter in enumerate(label) if letter != " "]
        for (first, left), (second, right) in pairwise(zip(letters, pieces, strict=True)):
            gap = right.start - left.end
            if second - first == 1:
                within = max(within, gap)
            else:
                between = min(between or gap, gap)
    if between > within:
        return (within + between + 1) // 2
    # In a monospaced font narrow glyphs, which may not have been seen side by side, have the widest gaps.
    spread = max(widths) - min(widths) if widths else 0
    return within + spread + 2 if within else max(widths, default=4) + 2


def _nothing_found(ways: Sequence[Way], needed: set[str]) -> str:
    nearest = max(ways, key=lambda way: (len(way.characters), way.cut_well))
    lost = "".join(sorted(needed - nearest.characters))
    return (
        f"no ink was found that parts the glyphs of enough crops: at best {nearest.cut_well} of {len(nearest.pieces)} "
        f"have as many pieces as their labels have characters, none of them shows {', '.join(lost)}; {LABEL_WELL}"
    )


def _misread(names: Sequence[str], doubts: Sequence[Doubt], count: int) -> str:
    first = doubts[0]
    return (
        f"{len(doubts)} of {count} crops don't read as labelled; {names[first.crop]} {first}, expected at "
        f"least {MIN_CONFIDENCE}; correct its label, remove it if it is half drawn, or label more like it"
    )
