"""Cuts labelled crops into glyphs by one ink or another, and averages the pieces of each character. Pure.

A way to cut is good if many crops have as many pieces, parted by columns without its ink, as their labels have
characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.glyphs import STRONG, Ink, cubes_of

# A character at other fractions of a pixel is another picture; beyond this number it joins the nearest one.
MAX_VARIANTS: Final = 8

# Pieces that differ by more are different pictures; different digits differ by a fifth or more.
SAME: Final = 0.06


@dataclass(frozen=True, slots=True)
class Piece:
    """One glyph of a crop, in all rows: columns ``start`` to ``end`` (excluded)."""

    start: int
    end: int
    ink: NDArray[np.float32]


@dataclass(slots=True)
class _Variant:
    first: NDArray[np.float32]
    total: NDArray[np.float32]
    crops: set[int]
    count: int = 1

    @property
    def mean(self) -> NDArray[np.float32]:
        return self.total / np.float32(self.count)


def cut(ink: NDArray[np.float32], tear: int) -> tuple[Piece, ...]:
    """Return the pieces of a crop's ink from the left; gaps of less than ``tear`` columns don't separate them."""
    inked = np.flatnonzero((ink >= STRONG).any(axis=0)).tolist()
    if not inked:
        return ()
    breaks = [(left + 1, right) for left, right in pairwise(inked) if right - left > tear]
    starts = [inked[0], *(right for _, right in breaks)]
    ends = [*(left for left, _ in breaks), inked[-1] + 1]
    return tuple(Piece(start, end, ink[:, start:end]) for start, end in zip(starts, ends, strict=True))


def averaged(shown: Sequence[tuple[int, NDArray[np.float32]]], top: int, bottom: int) -> list[NDArray[np.float32]]:
    """Return one picture for all inks of a character that look the same, of rows ``top`` to ``bottom`` (excluded).

    ``shown`` are the inks with the numbers of their crops. A picture of a single crop is left out if others agree on
    another: it was half drawn, or labelled wrongly.
    """
    variants: list[_Variant] = []
    for crop, ink in shown:
        rows = ink[top:bottom]
        nearest = min(
            ((*_apart(variant.mean, rows), variant) for variant in variants), default=None, key=lambda found: found[0]
        )
        if nearest is None or (nearest[0] > SAME and len(variants) < MAX_VARIANTS):
            variants.append(_Variant(rows, rows.copy(), {crop}))
        else:
            _, shift, variant = nearest
            variant.total += _placed(rows, variant.total.shape[1], shift)
            variant.count += 1
            variant.crops.add(crop)
    agreed = [variant for variant in variants if len(variant.crops) > 1]
    return [_trimmed(variant) for variant in agreed or variants]


def _apart(picture: NDArray[np.float32], ink: NDArray[np.float32]) -> tuple[float, int]:
    """Return how much two pieces differ, 0 to 1, and the shift of the second, in columns, for that."""
    energy = _common(picture, picture) + _common(ink, ink)
    # Shifted to the left, it loses its first column.
    lost = _common(ink[:, :1], ink[:, :1])
    apart = (
        (energy - 2 * _common(picture, ink), 0),
        (energy - lost - 2 * _common(picture, ink[:, 1:]), -1),
        (energy - 2 * _common(picture[:, 1:], ink), 1),
    )
    difference, shift = min(apart)
    return max(0.0, difference) / energy, shift


def _common(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    width = min(one.shape[1], other.shape[1])
    return float(np.vdot(one[:, :width], other[:, :width]))


def _placed(ink: NDArray[np.float32], width: int, shift: int) -> NDArray[np.float32]:
    placed = np.zeros((ink.shape[0], width), np.float32)
    shown = ink[:, max(0, -shift) :][:, : width - max(0, shift)]
    placed[:, max(0, shift) : max(0, shift) + shown.shape[1]] = shown
    return placed


def _trimmed(variant: _Variant) -> NDArray[np.float32]:
    # The mean of strokes thinner than a pixel may have no strong ink; the first piece has some.
    inked = np.flatnonzero((variant.mean >= STRONG).any(axis=0))
    return variant.mean[:, inked[0] : inked[-1] + 1] if len(inked) else variant.first


# Text is some percent of a crop, and so its colour among the most common.
MAX_COLOURS: Final = 24

# The distance from a colour at which ink ends: first one that keeps smoothed edges on most backgrounds, then narrower
# for coloured surroundings, and wider for thin strokes that never reach their colour.
REACHES: Final = (112, 72, 168, 40)
USUAL_REACH: Final = REACHES[0] - REACHES[0] // 4

# Luminances that separate light from dark, and the range around them in which ink is partial.
LUMINANCES: Final = (112, 160, 64, 208)
SOFTNESS: Final = 24

# Of the largest distance from a flat ground: all ink, and none.
CONTRAST: Final = (216, 40)

# Seven-segment digits have gaps of one to four columns.
MAX_TEAR: Final = 5

# How many of the ways that cut most crops well are tried.
MAX_TRIED: Final = 12

# Enough crops to compare inks; each character often enough to survive a few bad crops.
SAMPLE: Final = 32
SAMPLE_OF_CHARACTER: Final = 4


@dataclass(frozen=True, slots=True)
class Way:
    """A way to cut crops: by an ink, at gaps of ``tear`` or more columns without it.

    ``labels`` are the crops' texts, with leading zeros if there are any; ``pieces`` are None for those crops that are
    not cut as labelled.
    """

    ink: Ink
    tear: int
    labels: tuple[str, ...]
    pieces: tuple[tuple[Piece, ...] | None, ...]

    @property
    def cut_well(self) -> int:
        """How many crops have as many pieces as their labels have characters."""
        return sum(pieces is not None for pieces in self.pieces)

    @property
    def characters(self) -> set[str]:
        letters = zip(self.labels, self.pieces, strict=True)
        return {letter for label, pieces in letters if pieces is not None for letter in label if letter != " "}


def best_ways(crops: Sequence[Pixels], labels: Sequence[str]) -> list[Way]:
    """Return the few ways that seem best on a sample of the crops, applied to all. At least one."""
    sample, letters = sample_of(labels), {letter for label in labels for letter in label}

    def merit(way: Way) -> tuple[int, int]:
        return len(way.characters & letters), way.cut_well

    some, said = [crops[index] for index in sample], [labels[index] for index in sample]
    ways = [max(_ways_by(ink, some, said, range(1, MAX_TEAR + 1)), key=merit) for ink in _inks_of(some)]
    best = sorted(ways, key=merit, reverse=True)[:MAX_TRIED]
    if len(sample) == len(crops):
        return best
    return [max(_ways_by(way.ink, crops, labels, [way.tear]), key=merit) for way in best]


def sample_of(labels: Sequence[str]) -> list[int]:
    """Return the numbers of enough crops, in order."""
    chosen = set(np.linspace(0, len(labels) - 1, min(len(labels), SAMPLE)).astype(int).tolist())
    seen = Counter(letter for index in chosen for letter in set(labels[index]))
    for index, label in enumerate(labels):
        if index not in chosen and any(seen[letter] < SAMPLE_OF_CHARACTER for letter in label):
            chosen.add(index)
            seen.update(set(label))
    return sorted(chosen)


def _inks_of(crops: Sequence[Pixels]) -> Iterator[Ink]:
    """Yield the inks that are worth trying, the most likely first."""
    pixels = np.concatenate([crop.reshape(-1, 4) for crop in crops])
    cubes = cubes_of(pixels)
    count = np.bincount(cubes)
    common = [cube for cube in np.argsort(-count, kind="stable")[:MAX_COLOURS] if count[cube]]
    colours = [np.median(pixels[cubes == cube, 2::-1], axis=0).astype(int).tolist() for cube in common]
    for reach in REACHES:
        for red, green, blue in colours:
            yield Ink("colour", reach // 4, reach, (red, green, blue))
    for luminance in LUMINANCES:
        yield Ink("light", luminance + SOFTNESS, luminance - SOFTNESS)
        yield Ink("dark", luminance - SOFTNESS, luminance + SOFTNESS)
    yield Ink("contrast", *CONTRAST)


def _ways_by(ink: Ink, crops: Sequence[Pixels], labels: Sequence[str], tears: Iterable[int]) -> Iterator[Way]:
    """Yield the ways to cut by an ink: as labelled and, where that makes a difference, with leading zeros filled in."""
    inks = [ink.strength(pixels) for pixels in crops]
    for tear in tears:
        cuts = [cut(ink_of_crop, tear) for ink_of_crop in inks]
        usual = Counter(len(pieces) for pieces, label in zip(cuts, labels, strict=True) if label).most_common(1)
        filled = [label.zfill(usual[0][0]) if label.isdecimal() and usual else label for label in labels]
        for spelled in dict.fromkeys((tuple(labels), tuple(filled))):
            whole = [
                pieces if len(pieces) == len(label.replace(" ", "")) else None
                for pieces, label in zip(cuts, spelled, strict=True)
            ]
            yield Way(ink, tear, spelled, tuple(whole))
