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

from . import Steps, look_up

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

# A run's length is 1 plus the sum of its bytes; a byte of 255 means that another follows.
MORE: Final = 255
IS_RUN: Final = 128
RECORD_BYTES: Final = 4  # a colour and a length that is one byte


class Zrle:
    """The zlib stream, which lives as long as the connection."""

    def __init__(self) -> None:
        self._stream = Inflater()

    def read(self, canvas: Canvas, r: Region) -> Steps:
        length = int.from_bytes((yield 4), "big")
        if length > MAX_ZRLE_BYTES:
            raise LimitExceeded(f"{length} bytes of ZRLE, more than {MAX_ZRLE_BYTES}")
        plain = self._stream.at_most((yield length), _most_bytes(r))
        if canvas.wants(r):
            canvas.put_blue_first(r, _put_together(_Bytes(plain), r.width, r.height), COLOUR_BYTES)


def _most_bytes(r: Region) -> int:
    # Every pixel a run of its own, every tile with the largest palette.
    tiles = -(-r.width // SIDE) * -(-r.height // SIDE)
    return r.width * r.height * (COLOUR_BYTES + 1) + tiles * (1 + MAX_PALETTE * COLOUR_BYTES)


def _put_together(data: _Bytes, width: int, height: int) -> Pixels:
    rows = np.empty((height, width * COLOUR_BYTES), np.uint8)
    for y in range(0, height, SIDE):
        for x in range(0, width, SIDE):
            tile = rows[y : y + SIDE, x * COLOUR_BYTES : (x + SIDE) * COLOUR_BYTES]
            _put_tile(data, tile)
    if data.left:
        raise BadData(f"ZRLE data goes on for {data.left} bytes after its last tile")
    return rows


def _put_tile(data: _Bytes, tile: Pixels) -> None:
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
        tile[...] = _plain_runs(data, width * height).reshape(height, row_bytes)
    elif kind >= FIRST_PALETTE_RUNS:
        colours = kind - PLAIN_RUNS
        palette = data.take_array(colours * COLOUR_BYTES).reshape(colours, COLOUR_BYTES)
        indices, lengths = _palette_runs(data, width * height)
        tile[...] = look_up(palette, indices).repeat(lengths, axis=0).reshape(height, row_bytes)
    else:
        raise BadData(f"ZRLE tile type {kind} is unknown")


def _unpack(data: _Bytes, colours: int, width: int, height: int) -> Pixels:
    bits = 1 if colours == 2 else 2 if colours <= 4 else 4
    packed_bytes = -(-width * bits // 8)
    packed = data.take_array(packed_bytes * height).reshape(height, packed_bytes)
    if bits == 1:
        return np.unpackbits(packed, axis=1, count=width)
    shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
    unpacked = packed[:, :, None] >> shifts & np.uint8((1 << bits) - 1)
    return unpacked.reshape(height, -1)[:, :width]


def _plain_runs(data: _Bytes, total: int) -> Pixels:
    """``total`` pixels, shape (total, 3), of runs that each bring their colour."""
    pixels = np.empty((total, 3), np.uint8)
    done = 0
    while done < total:
        # All runs of up to 255 pixels, which take four bytes each, are done at once up to a longer one.
        records = data.peek_records(total - done)
        ends = records[:, 3].cumsum(dtype=np.intp) + np.arange(1, len(records) + 1)
        longer = np.flatnonzero(records[:, 3] == MORE)
        usable = min(int(np.searchsorted(ends, total - done, side="right")), int(longer[0]) if longer.size else total)
        if usable:
            data.take(usable * RECORD_BYTES)
            lengths = records[:usable, 3].astype(np.intp) + 1
            size = int(ends[usable - 1])
            pixels[done : done + size] = records[:usable, :3].repeat(lengths, axis=0)
        else:
            colour = data.take_array(3)
            size = data.take_run_length(total - done)
            pixels[done : done + size] = colour
        done += size
    return pixels


def _palette_runs(data: _Bytes, total: int) -> tuple[Pixels, list[int]]:
    """Runs that come to ``total`` pixels: the index of each one's colour, and its length."""
    indices, lengths = bytearray(), list[int]()
    done = 0
    while done < total:
        octet = data.take(1)[0]
        length = data.take_run_length(total - done) if octet & IS_RUN else 1
        indices.append(octet & ~IS_RUN)
        lengths.append(length)
        done += length
    return np.frombuffer(indices, np.uint8), lengths


class _Bytes:
    """Inflated data, taken from front to back."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at: int = 0
        self._array = np.frombuffer(data, np.uint8)

    @property
    def left(self) -> int:
        """How many bytes have not been taken."""
        return len(self.data) - self.at

    def take(self, count: int) -> bytes:
        """The next bytes; raise ``BadData`` if there aren't so many."""
        return self.data[self._advance(count) : self.at]

    def take_array(self, count: int) -> Pixels:
        return self._array[self._advance(count) : self.at]

    def peek_records(self, most: int) -> Pixels:
        """The bytes ahead as records of a colour and a length, as many as are whole, at most ``most``."""
        count = min(most, self.left // RECORD_BYTES)
        return self._array[self.at : self.at + count * RECORD_BYTES].reshape(count, RECORD_BYTES)

    def take_run_length(self, limit: int) -> int:
        """How long a run is, in pixels; raise ``BadData`` if longer than ``limit``."""
        length, octet = 1, MORE
        while octet == MORE and length <= limit:
            octet = self.take(1)[0]
            length += octet
        if length > limit:
            raise BadData("a run of ZRLE leaves its tile")
        return length

    def _advance(self, count: int) -> int:
        if count > self.left:
            raise BadData("ZRLE data ends within a tile")
        before = self.at
        self.at += count
        return before
