"""Grabs regions of an X screen, through shared memory where the X server can see ours."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from Xlib.error import XError

from pluriverse_server.sources.reading import Pixels, SourceError
from pluriverse_server.x11 import pixels
from pluriverse_server.x11.connection import (
    CONNECTION_ERRORS,
    DisplayLost,
    abort,
    closing_on_error,
    hang_up,
    open_display,
)

# What one more request costs, in pixels of a larger one: 0.02 to 0.05 ms. Up to so many pixels a region that belong to
# no source are grabbed along, and then all regions are of one moment.
PIXELS_A_REQUEST: Final = 65_536

# A peer's process, user and group.
_CREDENTIALS: Final = struct.Struct("=iII")


class ScreenLost(Exception):
    """The X server is gone, or there never was one; the message names the display."""


def require_on_screen(name: str, region: Sequence[int], width: int, height: int) -> None:
    """Make sure that a region is on a screen of that many pixels; raise SourceError if it isn't, or is empty."""
    x, y, wide, high = region
    if min(region) < 0 or not (wide and high) or x + wide > width or y + high > height:
        raise SourceError(
            f"{name}: region {list(region)} isn't on the screen of {width}x{height} pixels; "
            "expected [x, y, width, height] within it"
        )


class Grabber:
    """Grabs the same regions again and again, over a connection of its own.

    Regions that lie close together are of one moment; those that are far apart, a fraction of a millisecond. Not for
    use by several threads.
    """

    def __init__(
        self,
        display: str,
        regions: Sequence[Sequence[int]],
        names: Sequence[str] = (),
        xauthority: Path | None = None,
    ) -> None:
        """``regions`` are x, y, width and height; ``names`` of their sources, for errors.

        The connection's cookie is in ``xauthority``, by default in the file of ``XAUTHORITY``.
        """
        self._name = display
        self._regions = [(x, y, width, height) for x, y, width, height in regions]
        try:
            self._connection = open_display(display, xauthority)
            with closing_on_error(self._connection):
                screen = self._connection.screen()
                self.size: Final = (screen.width_in_pixels, screen.height_in_pixels)
                self._root: int = screen.root.id
                for index, region in enumerate(self._regions):
                    require_on_screen(names[index] if names else f"region {index + 1}", region, *self.size)
                self._box = _box_of(self._regions)
                self._pixels = self._make_pixels()
        except (*CONNECTION_ERRORS, DisplayLost) as error:
            raise ScreenLost(f"no X server can be grabbed from at {display!r}: {error}") from error

    def grab(self) -> list[Pixels]:
        """Return the regions' current pixels, in their order; the caller may keep the arrays, some read-only."""
        if self._box is None:
            return [self.grab_within(region) for region in self._regions]
        box = self.grab_within(self._box)
        left, top = self._box[:2]
        return [box[y - top : y - top + height, x - left : x - left + width] for x, y, width, height in self._regions]

    def grab_within(self, part: Sequence[int]) -> Pixels:
        """Return the current pixels of a part of one of the regions, as ``grab`` does all of them."""
        x, y, width, height = part
        try:
            rectangle = np.frombuffer(self._pixels.get(self._root, x, y, width, height), np.uint8)
        except (*CONNECTION_ERRORS, XError) as error:
            raise ScreenLost(f"the X server at {self._name} is gone: {error}") from error
        return rectangle.reshape(height, width, pixels.PIXEL_BYTES).copy()

    @property
    def server_pid(self) -> int:
        """The X server's process id; 0 if it isn't known."""
        peer = self._connection.display.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return _CREDENTIALS.unpack(peer)[0]

    def abort(self) -> None:
        abort(self._connection)

    def close(self) -> None:
        hang_up(self._connection)

    def _make_pixels(self) -> pixels.Pixels:
        pixels.require_bgrx(self._connection)
        rectangles = self._regions if self._box is None else [self._box]
        size = max((width * height for _, _, width, height in rectangles), default=1)
        try:
            return pixels.Pixels(self._connection, size)
        except pixels.NotShared:
            return pixels.Pixels(self._connection, size, shared=False)


def _box_of(regions: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int, int] | None:
    """The rectangle around all regions, if one request for it is cheaper than one for each."""
    if not regions:
        return None
    left, top = min(x for x, _, _, _ in regions), min(y for _, y, _, _ in regions)
    width = max(x + width for x, _, width, _ in regions) - left
    height = max(y + height for _, y, _, height in regions) - top
    area = sum(width * height for _, _, width, height in regions)
    return (left, top, width, height) if width * height <= area + PIXELS_A_REQUEST * (len(regions) - 1) else None
