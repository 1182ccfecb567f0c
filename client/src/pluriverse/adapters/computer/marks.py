"""Numbered boxes and the pointer, drawn over a picture. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.rfb.geometry import Box

from pluriverse.adapters.pictures import Pixels

# The digits, five columns of each of seven rows; the highest bit is on the left.
_DIGITS: Final = (
    (0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E),
    (0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E),
    (0x0E, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1F),
    (0x1F, 0x02, 0x04, 0x06, 0x01, 0x11, 0x0E),
    (0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02),
    (0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E),
    (0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E),
    (0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08),
    (0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E),
    (0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C),
)
_COLUMNS: Final = 5

# Neighbours differ; on all of them white is read.
_COLOURS: Final = np.array([(200, 0, 0), (0, 90, 200), (0, 120, 40), (150, 0, 150), (170, 80, 0)], np.uint8)

# The pointer, its tip at the upper left: black around white is seen on any ground.
_ARROW: Final = (
    "#       ",
    "##      ",
    "#o#     ",
    "#oo#    ",
    "#ooo#   ",
    "#oooo#  ",
    "#ooooo# ",
    "#oooooo#",
    "#oooo###",
    "#o##o#  ",
    "##  #o# ",
    "     ## ",
)

# A picture of this width or more is made smaller for most models, which take digits of twice the size.
LARGE: Final = 640


def draw(picture: Pixels, boxes: Mapping[int, Box]) -> Pixels:
    """Return a copy of a picture, uint8 (height, width, 3), RGB, with a frame and the number of each box.

    Boxes are x, y, width and height in its pixels; what of them lies outside isn't drawn.
    """
    drawn = picture.copy()
    scale = 2 if picture.shape[1] >= LARGE else 1
    for number, (x, y, width, height) in boxes.items():
        colour = _COLOURS[number % len(_COLOURS)]
        for left, top, across, down in (
            (x, y, width, scale),
            (x, y + height - scale, width, scale),
            (x, y, scale, height),
            (x + width - scale, y, scale, height),
        ):
            drawn[max(top, 0) : max(top + down, 0), max(left, 0) : max(left + across, 0)] = colour
    # After all frames, so that each number is read.
    for number, (x, y, *_) in boxes.items():
        _write(drawn, label(number, scale), x, y, _COLOURS[number % len(_COLOURS)])
    return drawn


def draw_pointer(picture: Pixels, x: int, y: int) -> Pixels:
    """Return a copy of a picture, uint8 (height, width, 3), RGB, with the pointer at a pixel of it."""
    drawn = picture.copy()
    scale = 2 if picture.shape[1] >= LARGE else 1
    arrow = np.array([list(row) for row in _ARROW]).repeat(scale, 0).repeat(scale, 1)
    place = drawn[y : y + arrow.shape[0], x : x + arrow.shape[1]]
    arrow = arrow[: place.shape[0], : place.shape[1]]
    place[arrow == "#"] = 0
    place[arrow == "o"] = 255
    return drawn


def label(number: int, scale: int) -> NDArray[np.bool_]:
    """Return the digits of a number, true where they are, with a margin; a column of a digit is ``scale`` pixels."""
    rows = [
        np.array(_DIGITS[int(digit)], np.uint8)[:, None] >> np.arange(_COLUMNS - 1, -1, -1) & 1 for digit in str(number)
    ]
    small = np.pad(np.hstack([np.pad(digit, ((0, 0), (0, 1))) for digit in rows]), ((1, 1), (1, 0)))
    return small.repeat(scale, 0).repeat(scale, 1).astype(np.bool_)


def _write(drawn: Pixels, text: NDArray[np.bool_], x: int, y: int, colour: NDArray[np.uint8]) -> None:
    """Write above a place, or below where there is no room; as far to the right as fits."""
    height, width = text.shape
    top = y - height if y >= height else y
    top = min(max(top, 0), max(drawn.shape[0] - height, 0))
    left = min(max(x, 0), max(drawn.shape[1] - width, 0))
    place = drawn[top : top + height, left : left + width]
    place[:] = np.where(text[: place.shape[0], : place.shape[1], None], np.uint8(255), colour)
