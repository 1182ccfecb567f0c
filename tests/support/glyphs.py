"""Draws numbers as games do: in fixed and proportional fonts, smoothed or not, on what happens to lie behind them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

DEJAVU: Final = Path("/usr/share/fonts/truetype/dejavu")

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Style:
    """How numbers are drawn; ``font`` names one of DejaVu's, or is empty for the one that Pillow brings along."""

    font: str = ""
    size: int = 20
    colour: tuple[int, int, int] = (255, 255, 255)
    background: Literal["plain", "gradient", "noise"] = "plain"
    behind: tuple[int, int, int] = (0, 0, 0)
    align: Literal["left", "right", "centre"] = "left"
    smooth: bool = True
    width: int = 120
    height: int = 28


def draw(text: str, style: Style, seed: int = 0) -> Pixels:
    """What the screen shows: BGRX, shape (style.height, style.width, 4). ``seed`` varies the background."""
    picture = Image.fromarray(_background(style, seed))
    pen = ImageDraw.Draw(picture)
    pen.fontmode = "L" if style.smooth else "1"
    font = _font(style)
    room = style.width - 6 - round(pen.textlength(text, font=font))
    x = 3 + {"left": 0, "right": room, "centre": room // 2}[style.align]
    pen.text((x, style.height // 2), text, fill=style.colour, font=font, anchor="lm")
    return bgrx(np.asarray(picture))


def bgrx(rgb: NDArray[np.uint8]) -> Pixels:
    """A picture as X has it."""
    pixels = np.zeros((*rgb.shape[:2], 4), np.uint8)
    pixels[..., :3] = rgb[..., 2::-1]
    return pixels


def _font(style: Style) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    path = DEJAVU / f"{style.font}.ttf"
    return ImageFont.truetype(path, style.size) if style.font and path.exists() else ImageFont.load_default(style.size)


def _background(style: Style, seed: int) -> NDArray[np.uint8]:
    rgb = np.empty((style.height, style.width, 3), np.uint8)
    rgb[:] = style.behind
    random = np.random.default_rng(seed)
    if style.background == "gradient":
        begins, ends = random.integers(0, 140, 2)
        rgb[:] = np.linspace(begins, ends, style.width, dtype=np.uint8)[None, :, None]
        rgb[..., 0] //= 2
    elif style.background == "noise":
        rgb[:] = random.integers(0, 120, rgb.shape, dtype=np.uint8)
    return rgb
