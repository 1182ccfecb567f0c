"""Tight: a control byte, then one colour, a JPEG picture, or pixels that a filter made smaller before zlib did.

There is no RFC for it; the community's description is https://github.com/rfbproto/rfbproto (Tight Encoding). With the
pixel format that was agreed on, every colour is three bytes, red first.
"""

from __future__ import annotations

import enum
import zlib
from collections.abc import Generator
from typing import Final

import numpy as np
from pluriverse_protocol.rfb.errors import BadData
from pluriverse_protocol.rfb.geometry import Region

from pluriverse.rfb.canvas import Canvas
from pluriverse.rfb.picture import Pixels, luma_of

from . import Steps
from .jpeg import JpegPainter

STREAMS: Final = 4

# The control byte's upper half.
FILL: Final = 8
JPEG: Final = 9
EXPLICIT_FILTER: Final = 4
STREAM_MASK: Final = 3

# Fewer bytes than this are sent as they are: zlib would only add to them.
MIN_TO_COMPRESS: Final = 12

# Rows whose gradient is undone together. More take fewer, longer steps; the diagonals of this many rows of the widest
# desktop take 26 MB for the moment.
BAND_ROWS: Final = 256


class Inflater:
    """A zlib stream that goes on from rectangle to rectangle, and never grows beyond what its rectangle can hold."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """The server restarts this stream."""
        self._stream = zlib.decompressobj()

    def exactly(self, data: bytes, wanted: int) -> bytes:
        """Inflate ``data``; raise ``BadData`` if it is damaged, or doesn't give ``wanted`` bytes."""
        if self._stream.eof:
            raise BadData("zlib data goes on after the end of its stream")
        try:
            # Room for one byte more: with none left zlib would keep back the marker of the flush behind the last one.
            inflated = self._stream.decompress(data, wanted + 1)
        except zlib.error as error:
            raise BadData(f"zlib data is damaged: {error}") from None
        if len(inflated) < wanted:
            raise BadData(f"zlib data gave {len(inflated)} of {wanted} bytes")
        if len(inflated) > wanted:
            raise BadData(f"zlib data is longer than the {wanted} bytes that its rectangle can take")
        return inflated


class Filter(enum.IntEnum):
    COPY = 0
    PALETTE = 1
    GRADIENT = 2


class Tight:
    """The four zlib streams, which live as long as the connection."""

    def __init__(self) -> None:
        self._streams = [Inflater() for _ in range(STREAMS)]
        self._jpeg = JpegPainter()

    def read(self, canvas: Canvas, r: Region) -> Steps:
        control = (yield 1)[0]
        for index, stream in enumerate(self._streams):
            if control >> index & 1:
                stream.reset()
        kind = control >> 4
        if kind == FILL:
            canvas.fill(r, (yield 3))
        elif kind == JPEG:
            data = yield (yield from _compact_length())
            if canvas.wants(r):
                self._jpeg.paint(canvas, r, data)
        elif kind > JPEG:
            raise BadData(f"Tight compression {kind} is unknown")
        else:
            yield from self._read_basic(canvas, r, kind)

    def _read_basic(self, canvas: Canvas, r: Region, kind: int) -> Steps:
        which = (yield 1)[0] if kind & EXPLICIT_FILTER else Filter.COPY
        palette = b""
        if which == Filter.PALETTE:
            palette = yield ((yield 1)[0] + 1) * 3
        elif which not in (Filter.COPY, Filter.GRADIENT):
            raise BadData(f"Tight filter {which} is unknown")
        stream = self._streams[kind & STREAM_MASK]
        plain = yield from _read_plain(stream, _row_bytes(r.width, len(palette) // 3) * r.height)
        if not canvas.wants(r):
            return
        if which == Filter.PALETTE:
            _put_palette(canvas, r, np.frombuffer(palette, np.uint8).reshape(-1, 3), plain)
        elif which == Filter.GRADIENT:
            canvas.put(r, _undo_gradient(plain, r.width, r.height))
        else:
            canvas.put(r, plain)


def _compact_length() -> Generator[int, bytes, int]:
    # Seven bits a byte, the lowest first, as long as the highest bit says that more follow; the third has eight.
    length = 0
    for shift, mask in ((0, 0x7F), (7, 0x7F), (14, 0xFF)):
        octet = (yield 1)[0]
        length |= (octet & mask) << shift
        if octet <= 0x7F:
            break
    return length


def _read_plain(stream: Inflater, size: int) -> Generator[int, bytes, bytes]:
    if size < MIN_TO_COMPRESS:
        return (yield size)
    return stream.exactly((yield (yield from _compact_length())), size)


def _row_bytes(width: int, colours: int) -> int:
    if colours == 0:
        return width * 3
    return (width + 7) // 8 if colours <= 2 else width


def _put_palette(canvas: Canvas, r: Region, palette: Pixels, plain: bytes) -> None:
    indices = np.frombuffer(plain, np.uint8)
    if len(palette) <= 2:
        indices = np.unpackbits(indices.reshape(r.height, (r.width + 7) // 8), axis=1, count=r.width)
    surface = canvas.surface(r)
    if indices.size and indices.max() >= len(palette):
        raise BadData(f"colour {indices.max()} of a palette of {len(palette)}")
    # The indices are known to be good: clipping them is quicker than checking them again.
    pixels = (luma_of(palette) if canvas.in_luma else palette).take(indices, axis=0, mode="clip")
    surface[r.y : r.y + r.height, r.x : r.x + r.width] = pixels.reshape(r.height, r.width, surface.shape[2])


def _undo_gradient(data: bytes, width: int, height: int) -> Pixels:
    """The pixels, RGB of shape (height, width, 3): each byte is the difference to a guess from three neighbours.

    These are those to the left, above, and above left. A pixel needs its left neighbour first, so that rows can't be
    done at once; but all pixels of a diagonal can.
    """
    differences = np.frombuffer(data, np.uint8).reshape(height, width, 3)
    pixels = np.empty((height, width, 3), np.uint8)
    above = np.zeros((width, 3), np.uint8)
    for top in range(0, height if width else 0, BAND_ROWS):
        band = slice(top, top + BAND_ROWS)
        _undo_band(differences[band], above, pixels[band])
        above = pixels[band][-1]
    return pixels


def _undo_band(differences: Pixels, above: Pixels, out: Pixels) -> None:
    height, width, _ = differences.shape
    # diagonals[x + y + 2, y + 1] is pixel (x, y). The row before the first is what is above the band, and what lies
    # left of the first column is black, as the filter has it.
    diagonals = np.zeros((width + height + 1, height + 1, 3), np.int16)
    step, down, colour = diagonals.strides
    skewed = np.lib.stride_tricks.as_strided(diagonals[2:, 1:], (height, width, 3), (step + down, step, colour))
    skewed[...] = differences
    diagonals[1 : width + 1, 0] = above
    for index in range(2, width + height + 1):
        # Rows whose pixel of this diagonal lies within the rectangle.
        first, last = max(0, index - 1 - width), min(height, index - 1)
        guess = diagonals[index - 1, first:last] + diagonals[index - 1, first + 1 : last + 1]
        guess -= diagonals[index - 2, first:last]
        here = diagonals[index, first + 1 : last + 1]
        here += np.clip(guess, 0, 255, out=guess)
        here &= 255
    out[...] = skewed
