"""Rectangles on a desktop."""

from __future__ import annotations

from typing import NamedTuple


class Region(NamedTuple):
    """A rectangle in pixels; (x, y) is its top-left corner."""

    x: int
    y: int
    width: int
    height: int

    def touches(self, other: Region) -> bool:
        """Whether the two have a pixel in common."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )
