"""Draws numbers as games do: in fixed and proportional fonts, smoothed or not, on what happens to lie behind them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

DEJAVU: Final = Path("/usr/share/fonts/truetype/dejavu")

# By how much a flat ground and the glyphs on it differ, at least.
FAINT: Final = 60

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Style:
    """How numbers are drawn; ``font`` names one of DejaVu's, or is empty for the one that Pillow brings along.

    ``squeeze``: how many columns closer each glyph stands to the one before. ``outline``: how many pixels of black are
    around each. ``tilt`` and ``scale``: by how many degrees, and by which share, each picture may differ.
    """

    font: str = ""
    size: int = 20
    colour: tuple[int, int, int] = (255, 255, 255)
    background: Literal["plain", "gradient", "noise", "flats", "clouds"] = "plain"
    behind: tuple[int, int, int] = (0, 0, 0)
    align: Literal["left", "right", "centre"] = "left"
    smooth: bool = True
    width: int = 120
    height: int = 28
    squeeze: int = 0
    outline: int = 0
    tilt: float = 0
    scale: float = 0


def draw(text: str, style: Style, seed: int = 0) -> Pixels:
    """What the screen shows: BGRX, shape (style.height, style.width, 4). ``seed`` varies the background."""
    picture = Image.fromarray(_background(style, seed))
    pen = ImageDraw.Draw(picture)
    pen.fontmode = "L" if style.smooth else "1"
    font = _font(style)
    if style.squeeze or style.outline or style.tilt or style.scale:
        return bgrx(np.asarray(_one_by_one(text, style, seed, picture, font)))
    room = style.width - 6 - round(pen.textlength(text, font=font))
    x = 3 + {"left": 0, "right": room, "centre": room // 2}[style.align]
    pen.text((x, style.height // 2), text, fill=style.colour, font=font, anchor="lm")
    return bgrx(np.asarray(picture))


def _one_by_one(
    text: str, style: Style, seed: int, ground: Image.Image, font: ImageFont.FreeTypeFont | ImageFont.ImageFont
) -> Image.Image:
    line = Image.new("RGBA", ground.size)
    pen = ImageDraw.Draw(line)
    advances = [round(pen.textlength(letter, font=font)) - style.squeeze for letter in text]
    room = style.width - 10 - sum(advances)
    x = 5 + {"left": 0, "right": room, "centre": room // 2}[style.align]
    for letter, advance in zip(text, advances, strict=True):
        pen.text(
            (x, style.height // 2),
            letter,
            fill=style.colour,
            font=font,
            anchor="lm",
            stroke_width=style.outline,
            stroke_fill=(0, 0, 0),
        )
        x += advance
    if style.tilt or style.scale:
        random = np.random.default_rng(seed)
        angle = np.deg2rad(random.uniform(-style.tilt, style.tilt))
        times = 1 + random.uniform(-style.scale, style.scale)
        across, down = np.cos(angle) / times, np.sin(angle) / times
        x0, y0 = style.width / 2, style.height / 2
        turned = (across, down, x0 - across * x0 - down * y0, -down, across, y0 + down * x0 - across * y0)
        # Premultiplied, so that what is transparent doesn't darken the edges.
        line = (
            line.convert("RGBa")
            .transform(line.size, Image.Transform.AFFINE, turned, Image.Resampling.BICUBIC)
            .convert("RGBA")
        )
    ground.paste(line, mask=line)
    return ground


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
    elif style.background == "flats":
        # Any colour that can be told from the glyphs'.
        rgb[:] = next(
            colour
            for colour in random.integers(0, 256, (1000, 3), dtype=np.uint8)
            if np.abs(colour.astype(int) - style.colour).max() > FAINT
        )
    elif style.background == "clouds":
        coarse = Image.fromarray(random.integers(0, 256, (4, 8, 3), dtype=np.uint8))
        rgb[:] = np.asarray(coarse.resize((style.width, style.height), Image.Resampling.BICUBIC))
    elif style.background == "noise":
        rgb[:] = random.integers(0, 120, rgb.shape, dtype=np.uint8)
    return rgb
