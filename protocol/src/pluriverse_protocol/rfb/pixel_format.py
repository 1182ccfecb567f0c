"""How a pixel is laid out."""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass
from typing import Final, Self

_LAYOUT: Final = struct.Struct(">BB??HHHBBBxxx")


@dataclass(frozen=True, slots=True)
class PixelFormat:
    bits_per_pixel: int
    depth: int
    big_endian: bool
    true_colour: bool
    red_max: int
    green_max: int
    blue_max: int
    red_shift: int
    green_shift: int
    blue_shift: int

    @classmethod
    def parse(cls, data: bytes) -> Self:
        return cls(*_LAYOUT.unpack(data))

    def to_bytes(self) -> bytes:
        return _LAYOUT.pack(*astuple(self))


PIXEL_FORMAT_BYTES: Final = _LAYOUT.size

# The one format that is asked for: in memory a pixel is the bytes blue, green, red, unused. X servers keep their
# screens so, which makes it the least work for them, and Tight sends three bytes a pixel in it.
BGRX: Final = PixelFormat(32, 24, False, True, 255, 255, 255, 16, 8, 0)
BYTES_PER_PIXEL: Final = 4
