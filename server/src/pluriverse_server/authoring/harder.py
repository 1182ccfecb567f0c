"""Ways to cut crops whose glyphs touch or overlap, are outlined, or stand in lines that are tilted. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.glyphs import STRONG, Colour, Ink
from pluriverse_server.sources.screen.upright import height_of, straightened

from .cutting import REACHES, Way, colours_of, inks_of, sample_of, ways_by
from .parting import WIDE_OFF, part, widths_off

# How many crops tell which inks are likely, and how many of these inks are tried.
RANKED: Final = 16
MAX_INKS: Final = 4
MAX_OUTLINED_INKS: Final = 2

# The commonest colours may be a stroke's and its outline's, if they differ by so much.
MAX_OUTLINED: Final = 4
APART: Final = 96

# Gaps of tilted lines are narrow.
TEARS: Final = (1, 2)

# Leading zeros that labels leave out are more than the longest label shows.
MAX_ZEROS: Final = 4

# Widths that differ by less are as good, in columns.
NO_WORSE: Final = 0.5

# What has more ink is the ground.
MAX_SHARE: Final = 0.6

# An outline that leaves more of the ink is only what lies around it.
MAX_REDUNDANT: Final = 0.98


def harder_ways(crops: Sequence[Pixels], labels: Sequence[str]) -> Iterator[Way]:
    """Yield ways that suit crops that have no usual one."""
    sample = sample_of(labels)
    some, said = [crops[index] for index in sample], [labels[index] for index in sample]
    few, step = some[:: 1 + len(some) // RANKED], 1 + len(said) // RANKED
    # Inks within outlines come first: what is outlined has its colour without them too, but so have some grounds.
    for ink in (
        *_likely(few, said[::step], _outlined(few), MAX_OUTLINED_INKS),
        *_likely(few, said[::step], inks_of(few), MAX_INKS),
    ):
        inks = [ink.strength(pixels) for pixels in crops]
        yield from _cut(ink, inks, labels, sample, 0)
        heights = [height_of(inks[index]) for index in sample]
        height = round(float(np.median([one for one in heights if one] or [0])))
        if height:
            upright = [
                next(straightened(ink_of_crop, height), np.zeros((height, 1), np.float32)) for ink_of_crop in inks
            ]
            yield from _cut(ink, upright, labels, sample, height)


def _cut(
    ink: Ink, inks: Sequence[NDArray[np.float32]], labels: Sequence[str], sample: list[int], height: int
) -> Iterator[Way]:
    yield max(ways_by(ink, inks, labels, TEARS, height), key=lambda way: way.cut_well)
    some = [inks[index] for index in sample]
    spellings = list(_spellings(labels))
    said = [[spelled[index] for index in sample] for spelled in spellings]
    off = [widths_off(some, spelled) for spelled in said]
    # Those that explain the lines' widths about as well as the best.
    likely = [number for number, one in enumerate(off) if one <= min(off) + NO_WORSE]
    if len(likely) > 1:
        parted = [sum(pieces is not None for pieces in part(some, said[number], 1)) for number in likely]
        likely = [likely[int(np.argmax(parted))]]
    spelled = spellings[likely[0]]
    whole = part(inks, spelled)
    if any(whole):
        yield Way(ink, 0, spelled, whole, height)


def _spellings(labels: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the labels as they are and, if they are numbers of different lengths, with leading zeros filled in."""
    yield tuple(labels)
    lengths = {len(label) for label in labels if label}
    if len(lengths) > 1 and all(label.isdecimal() for label in labels if label):
        for length in range(max(lengths), max(lengths) + 1 + MAX_ZEROS):
            yield tuple(label.zfill(length) if label else label for label in labels)


def _likely(crops: Sequence[Pixels], labels: Sequence[str], inks_there: Iterable[Ink], most: int) -> list[Ink]:
    """Return the inks whose lines are as wide as their characters say, of those the usual first, and no two alike."""
    filled = max((len(label) for label in labels), default=0)
    ranked: list[tuple[float, int, Ink]] = []
    for number, ink in enumerate(inks_there):
        inks = [ink.strength(pixels) for pixels in crops]
        if 0 < _share(inks) <= MAX_SHARE:
            off = min(widths_off(inks, spelled) for spelled in (labels, [label.zfill(filled) for label in labels]))
            ranked.append((round(2 * min(off, WIDE_OFF)), number, ink))
    likely: list[Ink] = []
    for *_, ink in sorted(ranked, key=lambda one: one[:2]):
        if not any(ink.kind == other.kind and _apart(ink.colour, other.colour) < ink.none // 3 for other in likely):
            likely.append(ink)
    return likely[:most]


def _outlined(crops: Sequence[Pixels]) -> Iterator[Ink]:
    """Yield inks of one colour within another, where that leaves less than the colour alone."""
    reach = REACHES[0]
    colours = [
        (red, green, blue)
        for red, green, blue in colours_of(np.concatenate([crop.reshape(-1, 4) for crop in crops]))[:MAX_OUTLINED]
    ]
    for pair in combinations(colours, 2):
        if _apart(*pair) >= APART:
            inks = [
                Ink("outlined", reach // 4, reach, colour, outline) for colour, outline in (pair, tuple(reversed(pair)))
            ]
            # Within an outline there is less of its own colour.
            ink = max(inks, key=lambda ink: _share([ink.strength(pixels) for pixels in crops]))
            alone = Ink("colour", ink.full, ink.none, ink.colour)
            left, there = (_share([one.strength(pixels) for pixels in crops]) for one in (ink, alone))
            if left < MAX_REDUNDANT * there:
                yield ink


def _share(inks: Sequence[NDArray[np.float32]]) -> float:
    return float(np.mean([(ink >= STRONG).mean() for ink in inks]))


def _apart(one: Colour, other: Colour) -> int:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))
