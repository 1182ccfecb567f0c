"""FramebufferUpdate messages of Raw rectangles in ``BGRX``, as recordings have them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pluriverse_protocol.errors import LocalProtocolError

from .errors import BadGeometry
from .geometry import Box, Region
from .limits import MAX_RECTANGLES
from .numbers import Encoding, ServerMessage
from .pixel_format import BYTES_PER_PIXEL
from .server_stream import RECTANGLE

_UPDATE: Final = struct.Struct(">BxH")


def max_bytes(width: int, height: int) -> int:
    """Return how long an update of a screen of ``width`` x ``height`` pixels may be, each of them once."""
    return _UPDATE.size + MAX_RECTANGLES * RECTANGLE.size + width * height * BYTES_PER_PIXEL


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A part of an update, in pixels; its own are ``width * height * BYTES_PER_PIXEL`` bytes from ``offset``."""

    x: int
    y: int
    width: int
    height: int
    offset: int


def raw_update(parts: Sequence[tuple[Box, bytes]]) -> bytes:
    """Build the FramebufferUpdate of these rectangles: each x, y, width, height, and its rows of BGRX."""
    if len(parts) > MAX_RECTANGLES:
        raise LocalProtocolError(f"{len(parts)} rectangles in an update, over {MAX_RECTANGLES}")
    pieces = [_UPDATE.pack(ServerMessage.FRAMEBUFFER_UPDATE, len(parts))]
    for box, pixels in parts:
        if len(pixels) != box[2] * box[3] * BYTES_PER_PIXEL:
            raise LocalProtocolError(f"a rectangle of {box[2]}x{box[3]} pixels has {len(pixels)} bytes")
        pieces += (RECTANGLE.pack(*box, Encoding.RAW), pixels)
    return b"".join(pieces)


def rectangles(message: bytes, width: int, height: int) -> list[Rectangle]:
    """Return the rectangles of a FramebufferUpdate for a screen of ``width`` x ``height`` pixels."""
    try:
        kind, count = _UPDATE.unpack_from(message)
        if kind != ServerMessage.FRAMEBUFFER_UPDATE:
            raise ValueError(f"a message of RFB's type {kind}, expected 0, a FramebufferUpdate")
        found: list[Rectangle] = []
        end = _UPDATE.size
        for _ in range(count):
            *place, encoding = RECTANGLE.unpack_from(message, end)
            if encoding != Encoding.RAW:
                raise ValueError(f"a rectangle of encoding {encoding}, expected {Encoding.RAW}, which is Raw")
            region = Region(*place)
            region.require_inside(width, height)
            end += RECTANGLE.size
            found.append(Rectangle(*region, end))
            end += region.width * region.height * BYTES_PER_PIXEL
    except struct.error:
        raise ValueError(f"an update of {len(message)} bytes is shorter than its rectangles") from None
    except BadGeometry as error:
        raise ValueError(str(error)) from None
    if end != len(message):
        raise ValueError(f"an update of {len(message)} bytes, its rectangles have {end}")
    return found
