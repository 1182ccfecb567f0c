"""The ink of glyphs, and glyph files: how one font's characters look on one screen, as a PNG strip of equal cells.

The strip's brightness is ink. Its text chunk ``pluriverse`` is JSON: the ``characters`` of the cells from the left (a
character with several renderings has several cells), the size of a ``cell``, the ``widths`` of the glyphs, which are
left-aligned in their cells, the ``ink``, and the ``region`` that they were learnt from, in which they begin at ``top``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngImageFile, PngInfo

from pluriverse_server.sources.reading import Pixels, SourceError

from .images import open_png

CHUNK: Final = "pluriverse"

# All of ASCII in four different renderings.
MAX_GLYPHS: Final = 384

# The largest digits of a game fill a third of a screen.
MAX_CELL: Final = 256

# Slanted glyphs lean over their neighbour by a column or two.
OVERLAP: Final = 2

# Pixels of at least half ink belong to the glyph; the others are its smoothed edge.
STRONG: Final = 0.5

WHITE: Final = 255

LEVELS: Final = 256

# A region whose pixels differ by less from its ground has no ink.
FAINT: Final = 24

# The commonest colour is counted in cubes of 16 levels.
CUBE_BITS: Final = 4

# Shares of luminance in 256ths, by Rec. 601.
BLUE, GREEN, RED = np.uint16(29), np.uint16(150), np.uint16(77)


Kind = Literal["colour", "light", "dark", "contrast"]
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Ink:
    """The pixels that count as ink.

    They have a ``colour`` (red, green, blue); are ``light`` or ``dark``; or are whatever stands out from a flat
    ground, in ``contrast`` to it. A pixel's level is its largest distance from the colour in any channel, its
    luminance, or its distance from the ground in relation to the largest one. At level ``full`` it is all ink, at
    ``none`` no ink, and in between partly, like the smoothed edges of glyphs.
    """

    kind: Kind
    full: int
    none: int
    colour: Colour = (0, 0, 0)

    def __post_init__(self) -> None:
        known = all(0 <= channel < LEVELS for channel in self.colour) and len(self.colour) == len("rgb")
        sense = self.full > self.none if self.kind in ("light", "contrast") else self.full < self.none
        if not (known and sense and 0 <= self.full < LEVELS and 0 <= self.none < LEVELS):
            raise ValueError(f"no ink is {self.kind} {self.colour} from {self.full} to {self.none}")

    def strength(self, pixels: Pixels) -> NDArray[np.float32]:
        """Return how much of each pixel is ink, 0 to 1: float32 of shape (height, width)."""
        return self._table.take(self._level(pixels))

    @property
    def by_pixel(self) -> bool:
        return self.kind != "contrast"

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "full": self.full, "none": self.none, "colour": list(self.colour)}

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        levels = np.arange(LEVELS, dtype=np.float32)
        return np.clip((levels - self.none) / (self.full - self.none), 0, 1).astype(np.float32)

    def _level(self, pixels: Pixels) -> NDArray[Any]:
        match self.kind:
            case "colour":
                return _away(pixels, self.colour)
            case "contrast":
                away = _away(pixels, ground_of(pixels))
                largest = int(away.max(initial=0))
                return away.astype(np.uint16) * WHITE // largest if largest >= FAINT else np.zeros_like(away)
            case "light" | "dark":
                return (pixels[..., 0] * BLUE + pixels[..., 1] * GREEN + pixels[..., 2] * RED) >> 8


def cubes_of(pixels: Pixels) -> NDArray[np.intp]:
    """Return the number of the cube of similar colours that each pixel is in."""
    return (pixels[..., :3] >> CUBE_BITS).astype(np.intp) @ np.array((1, 1 << CUBE_BITS, 1 << 2 * CUBE_BITS))


def ground_of(pixels: Pixels) -> Colour:
    cubes = cubes_of(pixels)
    blue, green, red = np.median(pixels[cubes == np.bincount(cubes.reshape(-1)).argmax()][:, :3], axis=0).tolist()
    return int(red), int(green), int(blue)


def ink_of(table: dict[str, Any]) -> Ink:
    kind, colour = table["kind"], tuple(int(channel) for channel in table["colour"])
    if kind not in get_args(Kind):
        raise ValueError(f"unknown kind of ink {kind!r}")
    return Ink(kind, int(table["full"]), int(table["none"]), colour)  # pyright: ignore[reportArgumentType]


def _away(pixels: Pixels, colour: Colour) -> NDArray[np.uint8]:
    away = _distance(pixels[..., 0], colour[2])
    np.maximum(away, _distance(pixels[..., 1], colour[1]), out=away)
    return np.maximum(away, _distance(pixels[..., 2], colour[0]), out=away)


def _distance(channel: NDArray[np.uint8], value: int) -> NDArray[np.uint8]:
    """Stay unsigned: signed numbers would take twice the time."""
    level = np.uint8(value)
    return np.maximum(channel, level) - np.minimum(channel, level)


@dataclass(frozen=True, slots=True, eq=False)
class Glyphs:
    """The glyphs of a font: ``pictures[i]``, ink from 0 to 1 of shape (height, width), shows ``characters[i]``.

    All have the same height; each begins and ends with a column of strong ink. ``region`` is the width and height of
    the region that they were learnt from, ``top`` the row in it where they begin. ``space`` or more columns without ink
    between two glyphs are a space, or a missing glyph.
    """

    characters: str
    pictures: tuple[NDArray[np.float32], ...]
    ink: Ink
    region: tuple[int, int]
    top: int
    space: int
    spaced: bool = False

    def __post_init__(self) -> None:
        heights = {picture.shape[0] for picture in self.pictures}
        widest = max((picture.shape[1] for picture in self.pictures), default=0)
        if not 1 <= len(self.pictures) == len(self.characters) <= MAX_GLYPHS:
            raise ValueError(f"{len(self.pictures)} glyphs for {len(self.characters)} characters, at most {MAX_GLYPHS}")
        if len(heights) != 1 or not all(1 <= size <= MAX_CELL for size in (widest, *heights)):
            raise ValueError(f"glyphs of at most {widest}x{max(heights)} pixels, expected up to {MAX_CELL}x{MAX_CELL}")
        if not 0 <= self.top <= self.top + self.height <= self.region[1]:
            raise ValueError(f"glyphs at row {self.top} don't fit into a region of {self.region}")
        if not all((picture >= STRONG).any() for picture in self.pictures):
            raise ValueError("a glyph without ink")
        if self.space < 1:
            raise ValueError(f"a space of {self.space} columns")

    @property
    def height(self) -> int:
        return self.pictures[0].shape[0]

    @property
    def widest(self) -> int:
        return max(picture.shape[1] for picture in self.pictures)

    def save(self, path: Path) -> None:
        width, height = self.widest, self.height
        strip = np.zeros((height, width * len(self.pictures)), np.uint8)
        for index, picture in enumerate(self.pictures):
            strip[:, index * width : index * width + picture.shape[1]] = np.rint(picture * WHITE)
        said = {
            "characters": self.characters,
            "cell": [width, height],
            "widths": [picture.shape[1] for picture in self.pictures],
            "ink": self.ink.as_json(),
            "region": list(self.region),
            "top": self.top,
            "space": self.space,
            "spaced": self.spaced,
        }
        chunk = PngInfo()
        chunk.add_text(CHUNK, json.dumps(said))
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(strip).save(path, "png", pnginfo=chunk)


def load_glyphs(path: Path, name: str, directory: Path) -> Glyphs:
    """Load a glyph file for source ``name`` of the runtime in ``directory``; raise SourceError if it can't be used."""
    remedy = f"make it with: pluriverse-server learn {directory} {name}"
    image = open_png(path, name, remedy)
    text = cast("PngImageFile", image).text.get(CHUNK)
    if image.mode != "L" or text is None:
        raise SourceError(f"{name}: {path} is a picture, but not a glyph file; {remedy}")
    try:
        said: dict[str, Any] = json.loads(text)
        width, height = (int(size) for size in said["cell"])
        widths = [int(size) for size in said["widths"]]
        region = (int(said["region"][0]), int(said["region"][1]))
        pictures = _cut(np.asarray(image), (width, height), widths)
        ink, top, space = ink_of(said["ink"]), int(said["top"]), int(said["space"])
        return Glyphs(str(said["characters"]), pictures, ink, region, top, space, bool(said["spaced"]))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise SourceError(f"{name}: {path} is a damaged glyph file ({error!r}); {remedy}") from None


def _cut(strip: NDArray[np.uint8], cell: tuple[int, int], widths: Sequence[int]) -> tuple[NDArray[np.float32], ...]:
    if strip.shape != (cell[1], cell[0] * len(widths)) or not all(1 <= width <= cell[0] for width in widths):
        raise ValueError(f"a picture of {strip.shape[1]}x{strip.shape[0]} pixels, its text says otherwise")
    ink = strip.astype(np.float32)
    ink /= WHITE
    return tuple(ink[:, index * cell[0] : index * cell[0] + width] for index, width in enumerate(widths))
