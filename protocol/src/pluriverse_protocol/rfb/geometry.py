"""Rectangles on a desktop, in pixels."""

from __future__ import annotations

from typing import NamedTuple

from .errors import BadGeometry
from .limits import MAX_PIXELS, MAX_SIDE

# x, y, width, height.
Box = tuple[int, int, int, int]


class Region(NamedTuple):
    """A rectangle; (x, y) is its top-left corner."""

    x: int
    y: int
    width: int
    height: int

    def overlap(self, other: Region) -> Region:
        """Return the intersection; without width or height if it is empty."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        right = min(self.x + self.width, other.x + other.width)
        bottom = min(self.y + self.height, other.y + other.height)
        return Region(x, y, max(0, right - x), max(0, bottom - y))

    def touches(self, other: Region) -> bool:
        """Whether the two have a pixel in common."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )

    def require_inside(self, width: int, height: int) -> None:
        """Raise BadGeometry unless the rectangle lies on a desktop of this size."""
        if self.x + self.width > width or self.y + self.height > height:
            raise BadGeometry(
                f"a rectangle of {self.width}x{self.height} at ({self.x}, {self.y}) on a screen of {width}x{height}"
            )


def desktop_fault(width: int, height: int) -> str | None:
    """Why no desktop can have this size; None if one can."""
    if 0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS:
        return None
    return f"a desktop of {width}x{height}; expected 1 to {MAX_SIDE} pixels each way, {MAX_PIXELS} in all"
