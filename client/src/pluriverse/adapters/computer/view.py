"""The picture that a model was given of a screen, and where its pixels are there. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pluriverse_protocol.rfb.geometry import Box

from pluriverse.errors import ActionError

Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class View:
    """A part of a screen, ``box`` (x, y, width and height there), as a picture of ``width`` by ``height`` pixels."""

    box: Box
    width: int
    height: int

    @classmethod
    def fitted(cls, box: Box, width: int, height: int, *, enlarge: bool = False) -> View:
        """Return the largest view of ``box`` within so many pixels, in its proportions; as it is if it fits."""
        x, y, across, down = box
        factor = min(width / across, height / down)
        if factor >= 1 and not enlarge:
            return cls(box, across, down)
        return cls((x, y, across, down), max(1, round(across * factor)), max(1, round(down * factor)))

    def to_screen(self, point: Point) -> Point:
        """Return the pixel of the screen in the middle of a pixel of the picture."""
        px, py = point
        if not (0 <= px < self.width and 0 <= py < self.height):
            raise ActionError(f"({px}, {py}) is outside the picture, which is {self.width} by {self.height} pixels")
        x, y, across, down = self.box
        return x + (2 * px + 1) * across // (2 * self.width), y + (2 * py + 1) * down // (2 * self.height)

    def to_picture(self, point: Point) -> Point:
        """Return the pixel of the picture that has the middle of a pixel of the screen; the nearest one if none has."""
        x, y, across, down = self.box
        px = (2 * (point[0] - x) + 1) * self.width // (2 * across)
        py = (2 * (point[1] - y) + 1) * self.height // (2 * down)
        return min(max(px, 0), self.width - 1), min(max(py, 0), self.height - 1)

    def shows(self, point: Point) -> bool:
        x, y, across, down = self.box
        return x <= point[0] < x + across and y <= point[1] < y + down

    def to_picture_box(self, box: Box) -> Box:
        """Return the pixels of the picture that show a box on the screen, x, y, width and height; at least one."""
        left, top, across, down = box
        x, y, width, height = self.box
        x0, y0 = (left - x) * self.width // width, (top - y) * self.height // height
        x1, y1 = -(-(left + across - x) * self.width // width), -(-(top + down - y) * self.height // height)
        return x0, y0, max(1, x1 - x0), max(1, y1 - y0)

    def part(self, corners: tuple[int, int, int, int]) -> Box:
        """Return the box on the screen of (left, top, right, bottom) of the picture, right and bottom exclusive."""
        left, top, right, bottom = corners
        if not (0 <= left < right <= self.width and 0 <= top < bottom <= self.height):
            raise ActionError(
                f"the region {list(corners)} is not within the picture of {self.width} by {self.height} pixels; "
                "expected [left, top, right, bottom]"
            )
        x, y, across, down = self.box
        x0, y0 = x + left * across // self.width, y + top * down // self.height
        x1, y1 = x - -right * across // self.width, y - -bottom * down // self.height
        return x0, y0, max(1, x1 - x0), max(1, y1 - y0)
