"""Reads a part of the screen with each reader that may fit, and its confidence. Pure but for files of glyphs."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import ANYTHING, PLAIN, AnySource, ScreenSource
from pluriverse_server.sources.reading import Pixels, ScreenReader, SourceError
from pluriverse_server.sources.screen import make_reader
from pluriverse_server.sources.screen.colour import ColourReader
from pluriverse_server.sources.screen.gauge import BarReader, Shades
from pluriverse_server.sources.screen.number import NumberReader
from pluriverse_server.sources.screen.template import FLAT
from pydantic import TypeAdapter, ValidationError

# x, y, width and height in pixels.
Region = tuple[int, int, int, int]

# Colours that agree in this many bits of each channel are one.
COLOUR_BITS: Final = 4

# How many colours of a region are offered, and of which share on.
COLOURS: Final = 3
MIN_SHARE: Final = 0.02

# As bars' own default: by how much each channel may differ.
TOLERANCE: Final = 48

# A bar contradicted by more than a fortieth of its length isn't a bar, but a region that is too large for it.
MIN_BAR_SURE: Final = 0.95

# A picture whose pixels deviate so much from their mean can't be mistaken for an empty place.
SHARP: Final = 4 * FLAT

# The name of the source before a person gives it another.
UNNAMED: Final = "it"

_SOURCES: Final[TypeAdapter[AnySource]] = TypeAdapter(AnySource)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Proposal:
    """One way to read a region: the source's ``table``, what it reads now, and how sure it is, 0 to 1."""

    how: str
    value: Value
    sure: float
    table: dict[str, Any]


class Proposer:
    """Reads regions; what takes long to start, as Tesseract does, is kept for the next. For one thread at a time."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is the runtime's, whose files of glyphs are tried too."""
        self._folder = folder
        self._tesseract: dict[str, ScreenReader] = {}

    def propose(self, pixels: Pixels, region: Region) -> tuple[list[Proposal], list[str]]:
        """Return how the pixels of ``region`` can be read, lines of text first, and why some readers aren't there."""
        missing: list[str] = []
        colours = _colours_of(pixels)
        lines = [line for line in self._lines(pixels, region, missing) if line.value is not None]
        found = [
            *sorted(lines, key=lambda line: -line.sure),
            *_bars(pixels, region, colours),
            *_template(pixels, region),
            *(
                Proposal(f"share of {colour}", round(share, 3), 1.0, _screen("colour", region, colour=colour))
                for colour, share in colours
            ),
        ]
        return found, missing

    def read(self, table: dict[str, Any], pixels: Pixels) -> tuple[Value, float]:
        """Return what the source of ``table`` reads in ``pixels``, and how sure that is, or raise SourceError."""
        try:
            return self._reader(table).read(pixels)
        except ValidationError as error:
            why = (problem["msg"].removeprefix("Value error, ") for problem in error.errors())
            raise SourceError("; ".join(why)) from None

    def _lines(self, pixels: Pixels, region: Region, missing: list[str]) -> Iterator[Proposal]:
        """Yield numbers and texts: by the runtime's glyphs, and by Tesseract if it is there."""
        for path in sorted((self._folder / "glyphs").glob("*.png")):
            # Glyphs that are higher than the region can't be in it.
            with contextlib.suppress(SourceError):
                keys = {"glyphs": f"glyphs/{path.name}"}
                number, text = (self._reader(_screen(read, region, **keys)) for read in ("number", "text"))
                yield from _line(pixels, region, number, text, path.name, keys)
        try:
            number, text = self._by_tesseract("number", region), self._by_tesseract("text", region)
        except SourceError as error:
            missing.append(str(error).removeprefix(f"{UNNAMED}: "))
            return
        yield from _line(pixels, region, number, text, "Tesseract", {})

    def _by_tesseract(self, read: str, region: Region) -> ScreenReader:
        if read not in self._tesseract:
            self._tesseract[read] = self._reader(_screen(read, region))
        return self._tesseract[read]

    def _reader(self, table: dict[str, Any]) -> ScreenReader:
        source = _SOURCES.validate_python(table)
        assert isinstance(source, ScreenSource)
        return make_reader(UNNAMED, source, self._folder)


def _line(
    pixels: Pixels, region: Region, number: ScreenReader, text: ScreenReader, by: str, keys: dict[str, Any]
) -> Iterator[Proposal]:
    """Yield a line's number, each of several numbers by the pattern that reads it, and the line as a text."""
    yield _proposal(f"number by {by}", _screen("number", region, **keys), number, pixels)
    line, _ = text.read(pixels)
    for written in _written(line) if isinstance(line, str) else ():
        table = _screen("number", region, **keys, written=written)
        yield _proposal(f"number in “{written}” by {by}", table, NumberReader(text, written), pixels)
    yield _proposal(f"text by {by}", _screen("text", region, **keys), text, pixels)


def _colours_of(pixels: Pixels) -> list[tuple[str, float]]:
    """Return the commonest colours of a region as ``#rrggbb``, with the share of the pixels that are nearly so."""
    levels = pixels[..., 2::-1].reshape(-1, 3)
    coarse = (levels >> (8 - COLOUR_BITS)).astype(np.int32)
    keys = (coarse[:, 0] << 2 * COLOUR_BITS) | (coarse[:, 1] << COLOUR_BITS) | coarse[:, 2]
    kinds, counts = np.unique(keys, return_counts=True)
    found: list[tuple[str, float]] = []
    left = np.ones(len(keys), np.bool_)
    for kind in kinds[np.argsort(-counts)]:
        mine = left & (keys == kind)
        if not mine.any():
            continue
        red, green, blue = np.median(levels[mine], axis=0).astype(int)
        colour = f"#{red:02x}{green:02x}{blue:02x}"
        near = ColourReader([colour], TOLERANCE).mask(pixels).reshape(-1)
        left &= ~near
        if near.mean() < MIN_SHARE or len(found) == COLOURS:
            break
        found.append((colour, float(near.mean())))
    return found


def _written(line: str) -> Iterator[str]:
    """Yield a line once for each number in it, with its place, and anything in the places of the others."""
    if PLAIN in line or ANYTHING in line:
        return
    numbers = list(_NUMBER.finditer(line))
    if len(numbers) == 1 and numbers[0][0] == line:
        return
    for number in numbers:
        before = _NUMBER.sub(ANYTHING, line[: number.start()])
        yield f"{before}{PLAIN}{_NUMBER.sub(ANYTHING, line[number.end() :])}"


def _bars(pixels: Pixels, region: Region, colours: list[tuple[str, float]]) -> Iterator[Proposal]:
    """Yield bars along the longer side that are neither full nor empty."""
    for colour, _ in colours:
        for direction in ("right", "left") if region[2] >= region[3] else ("up", "down"):
            value, sure = BarReader(Shades([colour], [], TOLERANCE), direction).read(pixels)
            if MIN_SHARE < cast("float", value) < 1 and sure >= MIN_BAR_SURE:
                table = _screen("bar", region, colour=colour, direction=direction)
                yield Proposal(f"bar of {colour}, to the {direction}", round(cast("float", value), 3), sure, table)
                break


def _template(pixels: Pixels, region: Region) -> Iterator[Proposal]:
    """Yield the picture itself, if it has a shape: its confidence is its difference from a flat colour."""
    deviation = float(pixels[..., :3].astype(np.float32).std(axis=(0, 1)).max())
    if deviation >= FLAT:
        yield Proposal("current picture", True, min(1.0, deviation / SHARP), _screen("template", region))


def _proposal(how: str, table: dict[str, Any], reader: ScreenReader, pixels: Pixels) -> Proposal:
    value, sure = reader.read(pixels)
    return Proposal(how, value, round(sure, 3), table)


def _screen(read: str, region: Region, **keys: Any) -> dict[str, Any]:
    return {"from": "screen", "read": read, "region": list(region), **keys}
