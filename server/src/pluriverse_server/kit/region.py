"""A rectangle of a window, backed by memory that a program writes and the X server reads."""

from __future__ import annotations

from dataclasses import dataclass

from pluriverse_server.x11.pixels import Pixels


class Region:
    """A rectangle of a window, backed by memory that the program writes. Made by ``Window.image``.

    ``memory`` is ``height * width * 4`` bytes, rows from the top, each pixel blue, green, red and an unused byte; numpy
    wraps it with ``np.frombuffer(region.memory, np.uint8).reshape(region.height, region.width, 4)``. An
    array keeps the memory it wraps, even past ``close``; it's just no longer shown.
    """

    def __init__(self, pixels: Pixels, x: int, y: int, width: int, height: int) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        self.shared = pixels.shared  # whether the X server reads this memory itself
        self.closed = False
        self._pixels = pixels

    @property
    def memory(self) -> memoryview:
        """The pixels; empty once the region was closed."""
        return self._pixels.memory

    def close(self) -> None:
        """Give the memory back; the region can't be put any more. May be called repeatedly."""
        self.closed = True
        self._pixels.close()

    def band(self, top: int, bottom: int) -> Band:
        """Return its rows from ``top`` to ``bottom``, which is excluded, for ``Window.put`` to show them alone.

        Raises:
            ValueError: the region hasn't these rows, or they are none.
        """
        if not 0 <= top < bottom <= self.height:
            raise ValueError(f"rows {top} to {bottom} are no band of a region of {self.height} rows")
        return Band(self, (top, bottom))

    def requests(self, window: int, gc: int, top: int, bottom: int) -> list[bytes]:
        """Return requests that draw some rows as they are when the server gets round to it; for ``Window.put``.

        Raises:
            ValueError: the region was closed.
        """
        if self.closed:
            raise ValueError("this region was closed: make a new one with Window.image")
        return self._pixels.put(window, gc, self.x, self.y, self.width, top, bottom)


@dataclass(frozen=True, slots=True)
class Band:
    """Some rows of a region, over its whole width. Made by ``Region.band``."""

    region: Region
    rows: tuple[int, int]  # the first, and the one after the last
