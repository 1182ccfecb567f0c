"""Separates the ink of glyphs from their background. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.reading import Pixels

LEVELS: Final = 256

# Shares of luminance in 256ths, by Rec. 601.
BLUE, GREEN, RED = np.uint16(29), np.uint16(150), np.uint16(77)


@dataclass(frozen=True)
class Ink:
    """The pixels that count as ink: a ``colour`` (red, green, blue), or everything ``light`` or ``dark``.

    A pixel's level is its largest distance from the colour in any channel, or else its luminance. At level ``full`` it
    is all ink, at ``none`` no ink, and in between partly, like the smoothed edges of glyphs.
    """

    kind: Literal["colour", "light", "dark"]
    full: int
    none: int
    colour: tuple[int, int, int] = (0, 0, 0)

    def __post_init__(self) -> None:
        channels = all(0 <= channel < LEVELS for channel in self.colour) and len(self.colour) == len("rgb")
        sense = self.full > self.none if self.kind == "light" else self.full < self.none
        if not (channels and sense and 0 <= self.full < LEVELS and 0 <= self.none < LEVELS):
            raise ValueError(f"no ink is {self.kind} {self.colour} from {self.full} to {self.none}")

    def strength(self, pixels: Pixels) -> NDArray[np.float32]:
        """Return how much of each pixel is ink, 0 to 1: float32 of shape (height, width)."""
        return self._table.take(self._level(pixels))

    def as_json(self) -> dict[str, Any]:
        """Return it as a glyph file has it."""
        return {"kind": self.kind, "full": self.full, "none": self.none, "colour": list(self.colour)}

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        levels = np.arange(LEVELS, dtype=np.float32)
        return np.clip((levels - self.none) / (self.full - self.none), 0, 1).astype(np.float32)

    def _level(self, pixels: Pixels) -> NDArray[Any]:
        blue, green, red = pixels[..., 0], pixels[..., 1], pixels[..., 2]
        if self.kind == "colour":
            away = _distance(blue, self.colour[2])
            np.maximum(away, _distance(green, self.colour[1]), out=away)
            return np.maximum(away, _distance(red, self.colour[0]), out=away)
        return (blue * BLUE + green * GREEN + red * RED) >> 8


def ink_of(table: dict[str, Any]) -> Ink:
    """Return the ink of a glyph file; raise KeyError, TypeError or ValueError if it isn't one."""
    kind, colour = table["kind"], tuple(int(channel) for channel in table["colour"])
    if kind not in ("colour", "light", "dark"):
        raise ValueError(f"unknown kind of ink {kind!r}")
    return Ink(kind, int(table["full"]), int(table["none"]), colour)  # pyright: ignore[reportArgumentType]


def _distance(channel: NDArray[np.uint8], value: int) -> NDArray[np.uint8]:
    """Stay unsigned: signed numbers would take twice the time."""
    level = np.uint8(value)
    return np.maximum(channel, level) - np.minimum(channel, level)
