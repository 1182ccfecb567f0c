"""Makes glyphs from labelled crops: finds the ink and where glyphs end, and reads the crops to be sure. Pure.

The glyphs are those that the pieces of well cut crops show; they are good if they read every crop as it is labelled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.glyphs import STRONG, Glyphs
from pluriverse_server.sources.screen.line import Line

from .pieces import averaged
from .ways import USUAL_REACH, Way, best_ways

DIGITS: Final = "0123456789"

# A crop a second over a quarter of an hour; more teach nothing, and take seconds.
MAX_CROPS: Final = 1000

# Of each character so many pieces are averaged.
MAX_SHOWN: Final = 60

# What is read back with less confidence than a source asks for by default would not count.
MIN_CONFIDENCE: Final = 0.8

LABEL_WELL: Final = (
    "see that labels say just what the region shows, that the region holds one line and nothing else, and that glyphs "
    "don't touch"
)

# As sure as glyphs can be expected to be.
CONTENT: Final = 0.97


class LearnError(Exception):
    """Crops that no glyphs can be made of; the message says which, why, and what mends it."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """Glyphs, and how well they read the crops: the first that they misread, and what as, with which confidence."""

    glyphs: Glyphs
    right: int
    confidence: float
    misread: tuple[int, str, float] | None


def learn(crops: Sequence[tuple[Pixels, str]], characters: str = DIGITS, names: Sequence[str] = ()) -> Glyphs:
    """Glyphs that read every crop as it is labelled.

    ``crops`` are pixels of one region, all of shape (height, width, 4), with what they show, as it is drawn: signs,
    separators and spaces included; leading zeros may be left out. ``characters`` are those that have to be among them.
    ``names`` say in errors which crop is meant; without them they are numbered.

    Raises:
        LearnError: a character is missing, no ink was found, or a crop isn't read as it is labelled.
    """
    names = names or [f"crop {number}" for number in range(1, len(crops) + 1)]
    _check(crops, characters, names)
    labels = [label.strip() for _, label in crops]
    needed = {letter for label in labels for letter in label} - {" "}
    ways = best_ways([pixels for pixels, _ in crops], labels)
    trials: list[_Trial] = []
    unusable = ""
    for way in ways:
        if way.characters >= needed:
            try:
                trials.append(_tried(way, crops))
            except ValueError as error:
                # What lies behind glyphs may be cut like them, and be far too large for one.
                unusable = str(error)
    if not trials:
        raise LearnError(_nothing_usable(unusable) if unusable else _nothing_found(ways, needed))
    best = max(trials, key=_merit)
    if best.misread is not None:
        raise LearnError(_misread(names, labels, best.misread))
    return best.glyphs


def _merit(trial: _Trial) -> tuple[float, ...]:
    """Of two that read all crops well, that with the usual reach, and the more of the glyphs' own colour."""
    glyphs = trial.glyphs
    drawn = np.concatenate([picture[picture >= STRONG] for picture in glyphs.pictures])
    unusual = abs(abs(glyphs.ink.full - glyphs.ink.none) - USUAL_REACH)
    return trial.right, min(trial.confidence, CONTENT), -unusual, float(drawn.mean())


def missing(labels: Sequence[str], characters: str = DIGITS) -> str:
    """Those of ``characters`` that no label has."""
    return "".join(letter for letter in characters if not any(letter in label for label in labels))


def _check(crops: Sequence[tuple[Pixels, str]], characters: str, names: Sequence[str]) -> None:
    if not crops or len(crops) > MAX_CROPS:
        raise LearnError(f"expected 1 to {MAX_CROPS} labelled crops, not {len(crops)}")
    shapes = Counter(pixels.shape for pixels, _ in crops)
    if len(shapes) > 1:
        odd = next(index for index, (pixels, _) in enumerate(crops) if pixels.shape != shapes.most_common(1)[0][0])
        height, width = crops[odd][0].shape[:2]
        raise LearnError(
            f"{names[odd]} ({crops[odd][1]!r}) has {width}x{height} pixels, unlike most others; expected crops of "
            "the source's region"
        )
    if lacking := missing([label for _, label in crops], characters):
        raise LearnError(
            f"no crop shows {', '.join(lacking)}; label moments that show each at least once, or name the characters "
            "that can appear"
        )
    if not any(label.strip() for _, label in crops):
        raise LearnError("all crops are labelled as empty; label moments at which something stands in the region")


def _tried(way: Way, crops: Sequence[tuple[Pixels, str]]) -> _Trial:
    glyphs = _glyphs_of(way, crops[0][0].shape)
    line = Line(glyphs)
    right, worst, misread = 0, 1.0, None
    for index, ((pixels, _), label) in enumerate(zip(crops, way.labels, strict=True)):
        spelling = line.read(pixels)
        worst = min(worst, spelling.confidence)
        if spelling.text == label and spelling.confidence >= MIN_CONFIDENCE:
            right += 1
        elif misread is None:
            misread = index, spelling.text, spelling.confidence
    return _Trial(glyphs, right, worst, misread)


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
    """How many columns without ink are a space, from what lies between the glyphs where there is one and where not."""
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
    # In a font of fixed pitch two narrow glyphs, which may not have been seen side by side, are the furthest apart.
    spread = max(widths) - min(widths) if widths else 0
    return within + spread + 2 if within else max(widths, default=4) + 2


def _nothing_usable(why: str) -> str:
    return f"no glyphs can be made of these crops: {why}; {LABEL_WELL}"


def _nothing_found(ways: Sequence[Way], needed: set[str]) -> str:
    nearest = max(ways, key=lambda way: (len(way.characters), way.cut_well))
    lost = "".join(sorted(needed - nearest.characters))
    return (
        f"no ink was found that parts the glyphs of enough crops: at best {nearest.cut_well} of {len(nearest.pieces)} "
        f"have as many pieces as their labels have characters, none of them shows {', '.join(lost)}; {LABEL_WELL}"
    )


def _misread(names: Sequence[str], labels: Sequence[str], misread: tuple[int, str, float]) -> str:
    index, text, confidence = misread
    return (
        f"{names[index]} is labelled {labels[index]!r}, but reads {text!r} with a confidence of {confidence:.2f}, "
        f"expected at least {MIN_CONFIDENCE}; mend its label, leave it out if it is half drawn, or label more like it"
    )
