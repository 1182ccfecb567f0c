"""Hextile (RFC 6143, 7.7.4): tiles of 16x16, each a background with rectangles on it, or its pixels as they are."""

from __future__ import annotations

from typing import Final

from pluriverse_protocol.rfb.errors import BadGeometry
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.pixel_format import BYTES_PER_PIXEL

from pluriverse.rfb.canvas import Canvas

from . import Steps

SIDE: Final = 16

RAW: Final = 1
BACKGROUND: Final = 2
FOREGROUND: Final = 4
SUBRECTANGLES: Final = 8
COLOURED: Final = 16

BLACK: Final = bytes(3)


def read_hextile(canvas: Canvas, r: Region) -> Steps:
    """Tiles from left to right and top to bottom; each may go on with the colours of the one before."""
    background = foreground = BLACK
    for y in range(r.y, r.y + r.height, SIDE):
        for x in range(r.x, r.x + r.width, SIDE):
            tile = Region(x, y, min(SIDE, r.x + r.width - x), min(SIDE, r.y + r.height - y))
            flags = (yield 1)[0]
            if flags & RAW:
                data = yield tile.width * tile.height * BYTES_PER_PIXEL
                canvas.put_blue_first(tile, data, BYTES_PER_PIXEL)
                continue
            colours = bool(flags & BACKGROUND) + bool(flags & FOREGROUND)
            data = yield colours * BYTES_PER_PIXEL + bool(flags & SUBRECTANGLES)
            if flags & BACKGROUND:
                background = data[2::-1]
            if flags & FOREGROUND:
                at = (colours - 1) * BYTES_PER_PIXEL
                foreground = data[at : at + 3][::-1]
            canvas.fill(tile, background)
            if flags & SUBRECTANGLES:
                data = yield data[-1] * (2 + BYTES_PER_PIXEL if flags & COLOURED else 2)
                _put_subrectangles(canvas, tile, data, None if flags & COLOURED else foreground)


def _put_subrectangles(canvas: Canvas, tile: Region, data: bytes, foreground: bytes | None) -> None:
    colour = foreground or BLACK
    size = 2 if foreground else 2 + BYTES_PER_PIXEL
    for at in range(0, len(data), size):
        if not foreground:
            colour = data[at : at + 3][::-1]
        place, extent = data[at + size - 2], data[at + size - 1]
        x, y, width, height = place >> 4, place & 15, (extent >> 4) + 1, (extent & 15) + 1
        if x + width > tile.width or y + height > tile.height:
            raise BadGeometry("a Hextile subrectangle leaves its tile")
        canvas.fill(Region(tile.x + x, tile.y + y, width, height), colour)
