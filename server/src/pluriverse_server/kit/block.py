"""The metadata block on a window: the clock when a frame was drawn, and when the last action probe came in."""

from __future__ import annotations

from pluriverse_protocol import metadata

from .window import Window


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


def _bgrx(rgb: bytes) -> bytes:
    row = bytearray(len(rgb) // 3 * 4)
    row[0::4], row[1::4], row[2::4] = rgb[2::3], rgb[1::3], rgb[0::3]
    return bytes(row)
