"""ZRLE (RFC 6143, 7.7.6): tiles of 64x64, each with its own way of saying few colours or long runs, through zlib.

A colour is three bytes, blue first. A rectangle is put together as it came, and its colours turned at the end, all at
once.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from pluriverse_protocol.rfb.errors import BadData, LimitExceeded
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.limits import MAX_ZRLE_BYTES

from pluriverse.rfb.canvas import Canvas
from pluriverse.rfb.inflate import Inflater
from pluriverse.rfb.picture import Pixels

from . import Steps
from .runs import Bytes, palette_runs, plain_runs

SIDE: Final = 64
COLOUR_BYTES: Final = 3

# Tile types: 0 is pixels as they are, 1 one colour, 2 to 16 that many colours in packed bits.
RAW: Final = 0
SOLID: Final = 1
MAX_PACKED: Final = 16
PLAIN_RUNS: Final = 128
# From here on: the type less 128 is how many colours the palette of the runs has.
FIRST_PALETTE_RUNS: Final = 130
MAX_PALETTE: Final = 127


class Zrle:
    """The zlib stream, which lives as long as the connection."""

    def __init__(self) -> None:
        self._stream = Inflater()

    def read(self, canvas: Canvas, r: Region) -> Steps:
        """One rectangle."""
        length = int.from_bytes((yield 4), "big")
        if length > MAX_ZRLE_BYTES:
            raise LimitExceeded(f"{length} bytes of ZRLE, more than {MAX_ZRLE_BYTES}")
        plain = self._stream.at_most((yield length), _most_bytes(r))
        if canvas.wants(r):
            canvas.put_blue_first(r, _put_together(Bytes(plain), r.width, r.height), COLOUR_BYTES)


def _most_bytes(r: Region) -> int:
    # Every pixel a run of its own, every tile with the largest palette.
    tiles = -(-r.width // SIDE) * -(-r.height // SIDE)
    return r.width * r.height * (COLOUR_BYTES + 1) + tiles * (1 + MAX_PALETTE * COLOUR_BYTES)


def _put_together(data: Bytes, width: int, height: int) -> Pixels:
    rows = np.empty((height, width * COLOUR_BYTES), np.uint8)
    for y in range(0, height, SIDE):
        for x in range(0, width, SIDE):
            tile = rows[y : y + SIDE, x * COLOUR_BYTES : (x + SIDE) * COLOUR_BYTES]
            _put_tile(data, tile)
    if data.left:
        raise BadData(f"ZRLE data goes on for {data.left} bytes after its last tile")
    return rows


def _put_tile(data: Bytes, tile: Pixels) -> None:
    height, row_bytes = tile.shape
    width = row_bytes // COLOUR_BYTES
    kind = data.take(1)[0]
    if kind == RAW:
        tile[...] = data.take_array(height * row_bytes).reshape(height, row_bytes)
    elif kind == SOLID:
        tile[...] = np.frombuffer(data.take(COLOUR_BYTES) * width, np.uint8)
    elif kind <= MAX_PACKED:
        palette = data.take_array(kind * COLOUR_BYTES).reshape(kind, COLOUR_BYTES)
        tile[...] = look_up(palette, _unpack(data, kind, width, height)).reshape(height, row_bytes)
    elif kind == PLAIN_RUNS:
        tile[...] = plain_runs(data, width * height).reshape(height, row_bytes)
    elif kind >= FIRST_PALETTE_RUNS:
        colours = kind - PLAIN_RUNS
        palette = data.take_array(colours * COLOUR_BYTES).reshape(colours, COLOUR_BYTES)
        indices, lengths = palette_runs(data, width * height)
        tile[...] = look_up(palette, indices).repeat(lengths, axis=0).reshape(height, row_bytes)
    else:
        raise BadData(f"ZRLE tile type {kind} is unknown")


def _unpack(data: Bytes, colours: int, width: int, height: int) -> Pixels:
    bits = 1 if colours == 2 else 2 if colours <= 4 else 4
    packed_bytes = -(-width * bits // 8)
    packed = data.take_array(packed_bytes * height).reshape(height, packed_bytes)
    if bits == 1:
        return np.unpackbits(packed, axis=1, count=width)
    shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
    unpacked = packed[:, :, None] >> shifts & np.uint8((1 << bits) - 1)
    return unpacked.reshape(height, -1)[:, :width]


def look_up(palette: Pixels, indices: Pixels) -> Pixels:
    """The colours that the indices stand for.

    Raises:
        BadData: the palette has fewer.
    """
    if indices.max() >= len(palette):
        raise BadData(f"colour {indices.max()} of a palette of {len(palette)}")
    return palette.take(indices, axis=0, mode="clip")
