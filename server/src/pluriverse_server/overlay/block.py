"""The metadata block in a small window of its own, above everything on the screen."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from pluriverse_protocol import metadata

from pluriverse_server.kit import Keyboard, MetadataBlock, Pacer, Window

# JPEG mixes what is within 8 pixels of each other: plain ground on each side keeps the page out of the block.
MARGIN: Final = 8


class BlockWindow:
    """A window that takes neither clicks nor focus, and is raised with each frame."""

    def __init__(self, x: int, y: int, fps: float, probes: Collection[int], now: float) -> None:
        """Show the block at (x, y) of the screen, its first frame due at ``now``, which may be any steady clock's.

        ``probes``: keysyms of which a press is an action probe.

        Raises:
            NoDisplay: there is no X server, or not one that can be drawn on.
        """
        left, top = max(0, x - MARGIN), max(0, y - MARGIN)
        width, height = x - left + metadata.WIDTH + MARGIN, y - top + metadata.HEIGHT + MARGIN
        self._window = Window(width, height, left, top, "pluriverse overlay", click_through=True)
        self._block = MetadataBlock(self._window, x - left, y - top)
        self._keyboard = Keyboard(self._window)
        self._pacer = Pacer(fps, now)
        self._probes = frozenset(probes)

    def fileno(self) -> int:
        """Return the X connection, for ``select``."""
        return self._keyboard.fileno()

    def wait_s(self, now: float) -> float:
        """Return the seconds until something is to be done, unless a key comes in."""
        return 0.0 if self._keyboard.waiting else max(0.0, self._pacer.next_due - now)

    def attend(self, now: float, wall_clock: float) -> None:
        """Read keys, and draw a frame if one is due. ``wall_clock``: UNIX seconds, for the block."""
        for edge in self._keyboard.events():
            if edge.down and edge.keysym in self._probes:
                self._block.saw_probe(edge.at)
        if self._pacer.take(now):
            self._block.stamp(wall_clock)
            # Another program's window may have come since the last frame.
            self._window.to_top()
            self._window.put(self._block.region)

    def close(self) -> None:
        """Close the window. May be called repeatedly."""
        self._window.close()
