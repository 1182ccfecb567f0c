"""Raw and CopyRect (RFC 6143, 7.7.1 and 7.7.2)."""

from __future__ import annotations

import struct
from typing import Final

from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.pixel_format import BYTES_PER_PIXEL

from pluriverse.rfb.canvas import Canvas

from . import Steps

# A rectangle may be the whole screen: it is painted as it comes, in pieces that stay in the processor's cache.
BAND_BYTES: Final = 128 * 1024


def read_raw(canvas: Canvas, r: Region) -> Steps:
    wanted = canvas.wants(r)
    row_bytes = r.width * BYTES_PER_PIXEL
    band = max(1, BAND_BYTES // max(1, row_bytes))
    for y in range(0, r.height, band):
        height = min(band, r.height - y)
        data = yield height * row_bytes
        if wanted:
            canvas.put_raw(Region(r.x, r.y + y, r.width, height), data)


def read_copyrect(canvas: Canvas, r: Region) -> Steps:
    x, y = struct.unpack(">HH", (yield 4))
    canvas.copy(r, x, y)
