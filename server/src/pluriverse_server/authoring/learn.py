"""Makes glyphs from labelled crops: finds the ink and where glyphs end, and reads the crops to be sure. Pure.

Inks are tried one after the other. An ink is right if the crops, cut where columns have none of it, have as many pieces
as their labels have characters, and if the glyphs that these pieces make read every crop as its label says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.authoring.pieces import Piece, averaged, cut
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.glyphs import STRONG, Glyphs
from pluriverse_server.sources.screen.ink import Ink
from pluriverse_server.sources.screen.line import Line

DIGITS: Final = "0123456789"

# A crop a second over a quarter of an hour; more teach nothing, and take seconds.
MAX_CROPS: Final = 1000

# What is read back with less confidence than a source asks for by default would not count.
MIN_CONFIDENCE: Final = 0.8

# As sure as glyphs can be expected to be.
CONTENT: Final = 0.97

# Colours are counted in cubes of 16 levels; text makes at least some percent of a crop, and so is among the foremost.
CUBE_BITS: Final = 4
MAX_COLOURS: Final = 24

# How far from a colour there is no ink left: first what keeps smoothed edges on most backgrounds, then narrower for
# coloured surroundings, then wider for thin strokes that never reach their colour.
REACHES: Final = (112, 72, 168, 40)
USUAL_REACH: Final = REACHES[0] - REACHES[0] // 4

# Luminances that part light from dark, and how far around them ink is neither all nor nothing.
LUMINANCES: Final = (112, 160, 64, 208)
SOFTNESS: Final = 24

# Seven-segment digits are torn by one to four columns.
MAX_TEAR: Final = 5

# Of the ways that cut most crops well, so many are tried out.
MAX_TRIED: Final = 12


class LearnError(Exception):
    """Crops that no glyphs can be made of; the message says which, why, and what mends it."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to cut the crops: how many of them it cuts as labelled, into what."""

    ink: Ink
    labels: tuple[str, ...]
    pieces: tuple[tuple[Piece, ...] | None, ...]

    @property
    def cut_well(self) -> int:
        return sum(pieces is not None for pieces in self.pieces)

    @property
    def characters(self) -> set[str]:
        letters = zip(self.labels, self.pieces, strict=True)
        return {letter for label, pieces in letters if pieces is not None for letter in label if letter != " "}


@dataclass(frozen=True, slots=True)
class _Trial:
    """Glyphs, and how well they read the crops: the first that they misread, and what as, with which confidence."""

    glyphs: Glyphs
    right: int
    confidence: float
    misread: tuple[int, str, float] | None

    @property
    def merit(self) -> tuple[float, ...]:
        """Of two that read all crops well, that with the usual reach, and the more of the glyphs' own colour."""
        reach = abs(self.glyphs.ink.full - self.glyphs.ink.none)
        drawn = np.concatenate([picture[picture >= STRONG] for picture in self.glyphs.pictures])
        return self.right, min(self.confidence, CONTENT), -abs(reach - USUAL_REACH), float(drawn.mean())


def learn(crops: Sequence[tuple[Pixels, str]], characters: str = DIGITS) -> Glyphs:
    """Glyphs that read every crop as it is labelled.

    ``crops`` are pixels of one region, all of shape (height, width, 4), with what they show, as it is drawn: signs,
    separators and spaces included; leading zeros may be left out. ``characters`` are those that have to be among them.

    Raises:
        LearnError: a character is missing, no ink was found, or a crop isn't read as it is labelled.
    """
    _check(crops, characters)
    labels = [label.strip() for _, label in crops]
    needed = {letter for label in labels for letter in label} - {" "}
    ways = [way for ink in _inks(crops) for way in _ways(ink, crops, labels)]
    whole = sorted((way for way in ways if way.characters >= needed), key=lambda way: -way.cut_well)
    if not whole:
        raise LearnError(_nothing_found(ways, needed))
    best: _Trial | None = None
    for way in whole[:MAX_TRIED]:
        trial = _tried(way, crops)
        if best is None or trial.merit > best.merit:
            best = trial
    assert best is not None
    if best.misread is not None:
        raise LearnError(_misread(labels, best.misread))
    return best.glyphs


def missing(labels: Sequence[str], characters: str = DIGITS) -> str:
    """Those of ``characters`` that no label has."""
    return "".join(letter for letter in characters if not any(letter in label for label in labels))


def _check(crops: Sequence[tuple[Pixels, str]], characters: str) -> None:
    if not crops or len(crops) > MAX_CROPS:
        raise LearnError(f"expected 1 to {MAX_CROPS} labelled crops, not {len(crops)}")
    shapes = Counter(pixels.shape for pixels, _ in crops)
    if len(shapes) > 1:
        odd = next(index for index, (pixels, _) in enumerate(crops) if pixels.shape != shapes.most_common(1)[0][0])
        height, width = crops[odd][0].shape[:2]
        raise LearnError(
            f"crop {odd + 1} ({crops[odd][1]!r}) has {width}x{height} pixels, unlike most others; expected crops of "
            "the source's region"
        )
    if lacking := missing([label for _, label in crops], characters):
        raise LearnError(
            f"no crop shows {', '.join(lacking)}; label moments that show each at least once, or name the characters "
            "that can appear"
        )


def _inks(crops: Sequence[tuple[Pixels, str]]) -> Iterator[Ink]:
    """The inks that are worth trying, the likeliest first."""
    pixels = np.concatenate([crop.reshape(-1, 4) for crop, _ in crops])
    cubes = (pixels[:, :3] >> CUBE_BITS).astype(np.int64) @ (1, 16, 256)
    count = np.bincount(cubes)
    common = [cube for cube in np.argsort(-count, kind="stable")[:MAX_COLOURS] if count[cube]]
    colours = [np.median(pixels[cubes == cube, 2::-1], axis=0).astype(int).tolist() for cube in common]
    for reach in REACHES:
        for red, green, blue in colours:
            yield Ink("colour", reach // 4, reach, (red, green, blue))
    for luminance in LUMINANCES:
        yield Ink("light", luminance + SOFTNESS, luminance - SOFTNESS)
        yield Ink("dark", luminance - SOFTNESS, luminance + SOFTNESS)


def _ways(ink: Ink, crops: Sequence[tuple[Pixels, str]], labels: Sequence[str]) -> Iterator[_Way]:
    """The ways to cut by an ink: with more or less tolerance for torn glyphs, with and without leading zeros."""
    inks = [ink.strength(pixels) for pixels, _ in crops]
    for tear in range(1, MAX_TEAR + 1):
        cuts = [cut(ink_of_crop, tear) for ink_of_crop in inks]
        usual = Counter(len(pieces) for pieces, label in zip(cuts, labels, strict=True) if label).most_common(1)
        filled = [label.zfill(usual[0][0]) if label.isdecimal() and usual else label for label in labels]
        for spelled in {tuple(labels): None, tuple(filled): None}:
            whole = [
                pieces if len(pieces) == len(label.replace(" ", "")) else None
                for pieces, label in zip(cuts, spelled, strict=True)
            ]
            yield _Way(ink, spelled, tuple(whole))


def _tried(way: _Way, crops: Sequence[tuple[Pixels, str]]) -> _Trial:
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


def _glyphs_of(way: _Way, shape: tuple[int, ...]) -> Glyphs:
    shown: dict[str, list[tuple[int, NDArray[np.float32]]]] = {}
    for crop, (label, pieces) in enumerate(zip(way.labels, way.pieces, strict=True)):
        for letter, piece in zip(label.replace(" ", ""), pieces or (), strict=pieces is not None):
            shown.setdefault(letter, []).append((crop, piece.ink))
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


def _space(way: _Way, widths: Sequence[int]) -> int:
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


def _nothing_found(ways: Sequence[_Way], needed: set[str]) -> str:
    nearest = max(ways, key=lambda way: (len(way.characters), way.cut_well))
    lost = "".join(sorted(needed - nearest.characters))
    return (
        f"no ink was found that parts the glyphs of enough crops: at best {nearest.cut_well} of {len(nearest.pieces)} "
        f"have as many pieces as their labels have characters, none of them shows {', '.join(lost)}; see that labels "
        "say just what the region shows, that the region holds one line and nothing else, and that glyphs don't touch"
    )


def _misread(labels: Sequence[str], misread: tuple[int, str, float]) -> str:
    index, text, confidence = misread
    return (
        f"crop {index + 1} is labelled {labels[index]!r}, but reads {text!r} with a confidence of {confidence:.2f}, "
        f"expected at least {MIN_CONFIDENCE}; mend its label, leave it out if it is half drawn, or label more like it"
    )
