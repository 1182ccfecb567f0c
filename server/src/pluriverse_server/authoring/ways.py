"""Ways to cut labelled crops into glyphs: by one ink or another. Pure.

A way is good if many crops have as many pieces, where columns have none of its ink, as their labels have characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.ink import Ink

from .pieces import Piece, cut

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

# Enough to tell which inks are any good; with each character as often as it takes to survive a few bad crops.
SAMPLE: Final = 32
SAMPLE_OF_CHARACTER: Final = 4


@dataclass(frozen=True, slots=True)
class Way:
    """A way to cut crops: by an ink, into what ``tear`` or more columns without it part.

    ``labels`` say what the crops show, with leading zeros if there are some; ``pieces`` are None for those crops that
    it doesn't cut as labelled.
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
        """What those show."""
        letters = zip(self.labels, self.pieces, strict=True)
        return {letter for label, pieces in letters if pieces is not None for letter in label if letter != " "}


def best_ways(crops: Sequence[Pixels], labels: Sequence[str]) -> list[Way]:
    """The few ways that seem best by a sample of the crops, each of them applied to all. At least one."""
    sample, letters = _sample(labels), {letter for label in labels for letter in label}

    def merit(way: Way) -> tuple[int, int]:
        return len(way.characters & letters), way.cut_well

    some, said = [crops[index] for index in sample], [labels[index] for index in sample]
    ways = [max(_ways(ink, some, said, range(1, MAX_TEAR + 1)), key=merit) for ink in _inks(some)]
    best = sorted(ways, key=merit, reverse=True)[:MAX_TRIED]
    if len(sample) == len(crops):
        return best
    return [max(_ways(way.ink, crops, labels, [way.tear]), key=merit) for way in best]


def _sample(labels: Sequence[str]) -> list[int]:
    chosen = set(np.linspace(0, len(labels) - 1, min(len(labels), SAMPLE)).astype(int).tolist())
    seen = Counter(letter for index in chosen for letter in set(labels[index]))
    for index, label in enumerate(labels):
        if index not in chosen and any(seen[letter] < SAMPLE_OF_CHARACTER for letter in label):
            chosen.add(index)
            seen.update(set(label))
    return sorted(chosen)


def _inks(crops: Sequence[Pixels]) -> Iterator[Ink]:
    """The inks that are worth trying, the likeliest first."""
    pixels = np.concatenate([crop.reshape(-1, 4) for crop in crops])
    cubes = (pixels[:, :3] >> CUBE_BITS).astype(np.int64) @ (1, 1 << CUBE_BITS, 1 << 2 * CUBE_BITS)
    count = np.bincount(cubes)
    common = [cube for cube in np.argsort(-count, kind="stable")[:MAX_COLOURS] if count[cube]]
    colours = [np.median(pixels[cubes == cube, 2::-1], axis=0).astype(int).tolist() for cube in common]
    for reach in REACHES:
        for red, green, blue in colours:
            yield Ink("colour", reach // 4, reach, (red, green, blue))
    for luminance in LUMINANCES:
        yield Ink("light", luminance + SOFTNESS, luminance - SOFTNESS)
        yield Ink("dark", luminance - SOFTNESS, luminance + SOFTNESS)


def _ways(ink: Ink, crops: Sequence[Pixels], labels: Sequence[str], tears: Iterable[int]) -> Iterator[Way]:
    """The ways to cut by an ink: as it's labelled and, where that makes a difference, with leading zeros filled in."""
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
