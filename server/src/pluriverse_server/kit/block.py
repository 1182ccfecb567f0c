"""The metadata block on a window: the clock when a frame was drawn, and when the last action probe came in."""

from __future__ import annotations

from typing import Final

from pluriverse_protocol import metadata

from .window import Window

# JPEG mixes what is within 8 pixels of each other: plain ground on each side keeps the program out of the block.
MARGIN: Final = 8


class MetadataBlock:
    """The block at (x, y) of a window, which must be plain around it; see ``pluriverse_protocol.metadata``."""

    def __init__(self, window: Window, x: int, y: int) -> None:
        self.region = window.image(x, y, metadata.WIDTH, metadata.HEIGHT)
        self._probe = 0

    def saw_probe(self, at: float) -> None:
        """Note that an action probe was pressed at ``at``, UNIX seconds."""
        self._probe = int(at * 1000)

    def stamp(self, now: float) -> None:
        """Write ``now`` (UNIX seconds) into the region; it is on the screen once the window has ``put`` it.

        Raises:
            ValueError: ``now`` is before 1970 or beyond 48 bits of milliseconds.
        """
        rows = metadata.encode(metadata.Metadata(clock=int(now * 1000), probe=self._probe))
        self.region.memory[:] = b"".join(map(_bgrx, rows))


class BlockWindow:
    """The block at (x, y) of the screen, in a small window above all others that takes neither clicks nor focus."""

    def __init__(self, x: int, y: int, title: str) -> None:
        """Open it.

        Raises:
            NoDisplay: there is no X server, or not one that can be drawn on.
        """
        left, top = max(0, x - MARGIN), max(0, y - MARGIN)
        width, height = x - left + metadata.WIDTH + MARGIN, y - top + metadata.HEIGHT + MARGIN
        self.window = Window(width, height, left, top, title, click_through=True)
        self.block = MetadataBlock(self.window, x - left, y - top)

    def paint(self, now: float) -> None:
        """Show the clock ``now``, UNIX seconds."""
        self.block.stamp(now)
        # Another window may have come since the last frame.
        self.window.to_top()
        self.window.put(self.block.region)


def _bgrx(rgb: bytes) -> bytes:
    row = bytearray(len(rgb) // 3 * 4)
    row[0::4], row[1::4], row[2::4] = rgb[2::3], rgb[1::3], rgb[0::3]
    return bytes(row)
