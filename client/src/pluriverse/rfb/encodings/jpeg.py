"""Tight's JPEG pictures, by libjpeg-turbo through simplejpeg, as directly into the framebuffer as it can."""

from __future__ import annotations

from typing import Final

import numpy as np
import simplejpeg  # pyright: ignore[reportMissingTypeStubs] - it has them, in an unusual place
from pluriverse_protocol.rfb.errors import BadData
from pluriverse_protocol.rfb.geometry import Region

from pluriverse.rfb.canvas import Canvas

# JPEG's markers (ITU T.81, table B.1).
SOI: Final = 0xD8
SOS: Final = 0xDA
BASELINE: Final = (0xC0, 0xC1)
# DHT, JPG and DAC have numbers among the kinds of frames that can't be decoded here.
NO_FRAMES: Final = (0xC4, 0xC8, 0xCC)
OTHER_FRAMES: Final = frozenset(range(0xC2, 0xD0)).difference(NO_FRAMES)


class JpegPainter:
    """Keeps the memory that pictures narrower than the screen are decoded into before they are copied."""

    def __init__(self) -> None:
        self._scratch = np.empty(0, np.uint8)

    def paint(self, canvas: Canvas, r: Region, data: bytes) -> None:
        """Decode a picture into its rectangle; raise ``BadData`` if it is damaged, or ``require_baseline`` does."""
        require_baseline(data, r.width, r.height)
        area = canvas.surface(r)[r.y : r.y + r.height, r.x : r.x + r.width]
        if r.width == canvas.width:
            target = area.reshape(-1)
        else:
            if self._scratch.size < area.size:
                self._scratch = np.empty(area.size, np.uint8)
            target = self._scratch[: area.size]
        try:
            simplejpeg.decode_jpeg(data, "GRAY" if canvas.in_luma else "RGB", buffer=target)
        except (ValueError, RuntimeError) as error:
            raise BadData(f"JPEG data is damaged: {error}") from None
        if r.width != canvas.width:
            area[...] = target.reshape(area.shape)


def require_baseline(data: bytes, width: int, height: int) -> None:
    """Raise BadData unless this is a grey or colour picture of this size in a single scan.

    A progressive picture could keep the decoder busy for hours: each of thousands of scans costs a few bytes, and as
    much time as the whole picture.
    """
    if data[:2] != bytes((0xFF, SOI)):
        raise BadData("JPEG data doesn't begin as JPEG")
    at, components = 2, 0
    while len(data) >= at + 4 and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        segment = data[at + 4 : at + 2 + length]
        if marker in BASELINE and len(segment) >= 6:
            size = int.from_bytes(segment[3:5], "big"), int.from_bytes(segment[1:3], "big")
            if size != (width, height) or 0 in size:
                raise BadData(f"a JPEG picture of {size[0]}x{size[1]} in a rectangle of {width}x{height}")
            components = segment[5]
        elif marker in OTHER_FRAMES:
            raise BadData(f"a JPEG picture of kind {marker:02X}, which VNC servers don't send")
        elif marker == SOS and segment:
            if components not in (1, 3) or segment[0] != components:
                raise BadData(f"a JPEG scan of {segment[0]} of {components} components, which VNC servers don't send")
            return
        at += 2 + length
    raise BadData("JPEG data has no picture")
