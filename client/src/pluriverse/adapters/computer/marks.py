"""Numbered boxes and the pointer, drawn over a picture. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from pluriverse_protocol.rfb.geometry import Box

from pluriverse.adapters.pictures import Pixels

# Neighbours differ; on all of them white is read.
_COLOURS: Final = ((200, 0, 0), (0, 90, 200), (0, 120, 40), (150, 0, 150), (170, 80, 0))
_WHITE: Final = (255, 255, 255)
_BLACK: Final = (0, 0, 0)

# The pointer, its tip at the upper left: black around white is seen on any ground.
_ARROW: Final = ((0, 0), (0, 10), (2, 8), (4, 11), (6, 10), (5, 7), (7, 7))

# A picture of this width or more is made smaller for most models, which take digits of twice the size.
LARGE: Final = 640
DIGITS: Final = 9


def draw(picture: Pixels, boxes: Mapping[int, Box]) -> Pixels:
    """Return a copy of a picture, uint8 (height, width, 3), RGB, with a frame and the number of each box.

    Boxes are x, y, width and height in its pixels; what of them lies outside isn't drawn.
    """
    image, canvas, scale = _canvas(picture)
    for number, (x, y, width, height) in boxes.items():
        frame = (x, y, x + width - 1, y + height - 1)
        canvas.rectangle(frame, outline=_COLOURS[number % len(_COLOURS)], width=scale)
    # After all frames, so that each number is read.
    font = _font(DIGITS * scale)
    for number, (x, y, *_) in boxes.items():
        left, top, right, bottom = canvas.textbbox((0, 0), str(number), font)
        width, height = right - left + 2 * scale, bottom - top + 2 * scale
        # Above the box, or in it where there is no room; as far to the right as fits.
        at_x = min(max(x, 0), max(image.width - width, 0))
        at_y = min(max(y - height if y >= height else y, 0), max(image.height - height, 0))
        canvas.rectangle((at_x, at_y, at_x + width - 1, at_y + height - 1), fill=_COLOURS[number % len(_COLOURS)])
        canvas.text((at_x + scale - left, at_y + scale - top), str(number), _WHITE, font)
    return np.asarray(image)


def draw_pointer(picture: Pixels, x: int, y: int) -> Pixels:
    """Return a copy of a picture, uint8 (height, width, 3), RGB, with the pointer at a pixel of it."""
    image, canvas, scale = _canvas(picture)
    canvas.polygon([(x + scale * right, y + scale * down) for right, down in _ARROW], _WHITE, _BLACK)
    return np.asarray(image)


def _canvas(picture: Pixels) -> tuple[Image.Image, ImageDraw.ImageDraw, int]:
    image = Image.fromarray(picture)
    canvas = ImageDraw.Draw(image)
    canvas.fontmode = "1"
    return image, canvas, 2 if image.width >= LARGE else 1


@cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)
