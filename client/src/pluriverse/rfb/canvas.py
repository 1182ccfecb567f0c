"""The picture that a decoder paints: RGB in one array, and the ways to put something into it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pluriverse_protocol.rfb.errors import LimitExceeded
from pluriverse_protocol.rfb.geometry import Region, desktop_fault
from pluriverse_protocol.rfb.pixel_format import BYTES_PER_PIXEL

from .picture import Picture, PictureSpec, Pixels


class Canvas:
    """A framebuffer, black at first. Rectangles must have been checked by ``check`` before they are painted.

    ``framebuffer`` is uint8 of shape (height, width, 3). ``rows`` are the same bytes as (height, 3 * width): whatever
    is contiguous in a row is copied as one there, which is many times quicker than three bytes at a time. ``in_luma``:
    the rectangle at hand was painted on the picture's luma instead.
    """

    def __init__(
        self, width: int, height: int, regions: Sequence[Region] | None = None, spec: PictureSpec | None = None
    ) -> None:
        self._regions = [Region(*region) for region in regions or ()]
        self._spec = spec or PictureSpec()
        self.in_luma = False
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """Start over, black, with another size; raise ``LimitExceeded`` if no desktop can have it."""
        fault = desktop_fault(width, height)
        if fault is not None:
            raise LimitExceeded(fault)
        try:
            self.framebuffer: Pixels = np.zeros((height, width, 3), np.uint8)
        except MemoryError:
            raise LimitExceeded(f"a desktop of {width}x{height}, which doesn't fit into memory") from None
        self.picture = Picture(self._spec, self.framebuffer)
        self.rows: Pixels = self.framebuffer.reshape(height, width * 3)
        self.width: int = width
        self.height: int = height

    def check(self, r: Region) -> None:
        """Raise BadGeometry unless the rectangle lies on the desktop."""
        r.require_inside(self.width, self.height)

    def wants(self, r: Region) -> bool:
        return not self._regions or any(region.touches(r) for region in self._regions)

    def surface(self, r: Region) -> Pixels:
        """What the rectangle at hand is to be painted on: the picture's luma, if only that is seen of it."""
        luma, block = self.picture.luma, self.picture.spec.block
        # Of a grey picture, only the block needs colours.
        if luma is None or (block is not None and block.touches(r)):
            return self.framebuffer
        self.in_luma = True
        return luma

    def put(self, r: Region, rgb: bytes | Pixels) -> None:
        if isinstance(rgb, bytes):
            rgb = np.frombuffer(rgb, np.uint8)
        self._bytes_of(r)[...] = rgb.reshape(r.height, 3 * r.width)

    def put_raw(self, r: Region, data: bytes) -> None:
        """Paint rows of pixels of four bytes: blue, green, red and then whatever."""
        source = np.frombuffer(data, np.uint8).reshape(r.height, r.width, BYTES_PER_PIXEL)
        target = self.framebuffer[r.y : r.y + r.height, r.x : r.x + r.width]
        # One colour at a time is four times as quick as source[..., 2::-1], whose innermost loop is three bytes long.
        for colour in range(3):
            target[..., colour] = source[..., 2 - colour]

    def fill(self, r: Region, rgb: bytes) -> None:
        self._bytes_of(r)[...] = np.frombuffer(rgb * r.width, np.uint8)

    def copy(self, r: Region, x: int, y: int) -> None:
        """Paint what is at (x, y), all of which must be on the desktop; the two may overlap."""
        source = Region(x, y, r.width, r.height)
        self.check(source)
        self._bytes_of(r)[...] = self._bytes_of(source).copy()

    def _bytes_of(self, r: Region) -> Pixels:
        return self.rows[r.y : r.y + r.height, 3 * r.x : 3 * (r.x + r.width)]
