"""FramebufferUpdate messages of RFB in Raw rectangles of 32-bit little-endian BGRX, as recordings have them. Pure."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .errors import LocalProtocolError

# RFB counts them in 16 bits.
MAX_RECTANGLES: Final = 65_535

BYTES_PER_PIXEL: Final = 4

_UPDATE: Final = struct.Struct(">BxH")
_RECTANGLE: Final = struct.Struct(">HHHHi")
_RAW: Final = 0

# x, y, width, height in pixels.
Box = tuple[int, int, int, int]


def max_bytes(width: int, height: int) -> int:
    """How long an update of a screen of ``width`` x ``height`` pixels may be; one has each pixel at most once."""
    return _UPDATE.size + MAX_RECTANGLES * _RECTANGLE.size + width * height * BYTES_PER_PIXEL


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A part of an update, in pixels; its own are ``width * height * BYTES_PER_PIXEL`` bytes from ``offset``."""

    x: int
    y: int
    width: int
    height: int
    offset: int


def raw_update(parts: Sequence[tuple[Box, bytes]]) -> bytes:
    """The FramebufferUpdate of these rectangles: each x, y, width, height, and its rows of BGRX one after the other.

    Raises:
        LocalProtocolError: they are too many, or one has too few or too many bytes.
    """
    if len(parts) > MAX_RECTANGLES:
        raise LocalProtocolError(f"{len(parts)} rectangles in an update, over {MAX_RECTANGLES}")
    message = bytearray(_UPDATE.pack(0, len(parts)))
    for box, pixels in parts:
        if len(pixels) != box[2] * box[3] * BYTES_PER_PIXEL:
            raise LocalProtocolError(f"a rectangle of {box[2]}x{box[3]} pixels has {len(pixels)} bytes")
        message += _RECTANGLE.pack(*box, _RAW) + pixels
    return bytes(message)


def rectangles(message: bytes, width: int, height: int) -> list[Rectangle]:
    """The rectangles of a FramebufferUpdate for a screen of ``width`` x ``height`` pixels.

    Raises:
        ValueError: it is none of Raw rectangles on that screen, or has not as many bytes as it says.
    """
    try:
        kind, count = _UPDATE.unpack_from(message)
        if kind != 0:
            raise ValueError(f"a message of RFB's type {kind}, expected 0, a FramebufferUpdate")
        found: list[Rectangle] = []
        end = _UPDATE.size
        for _ in range(count):
            x, y, wide, high, encoding = _RECTANGLE.unpack_from(message, end)
            if encoding != _RAW:
                raise ValueError(f"a rectangle of encoding {encoding}, expected {_RAW}, which is Raw")
            if x + wide > width or y + high > height:
                raise ValueError(f"a rectangle of {wide}x{high} at ({x}, {y}) on a screen of {width}x{height}")
            found.append(Rectangle(x, y, wide, high, end + _RECTANGLE.size))
            end += _RECTANGLE.size + wide * high * BYTES_PER_PIXEL
    except struct.error:
        raise ValueError(f"an update of {len(message)} bytes, it says that it has more") from None
    if end != len(message):
        raise ValueError(f"an update of {len(message)} bytes, its rectangles have {end}")
    return found
