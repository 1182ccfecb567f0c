"""Tasks in mtPaint: what is in its picture's file when that was saved."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from hands import click, press, save_as, wait, write
from PIL import Image, ImageOps
from pluriverse_server.kit import Look, Task
from words import file

Parameters = dict[str, Any]
Picture = Image.Image

WIDTH, HEIGHT = 200, 150


class _Picture(Task):
    """A picture of rectangles is changed: ``wanted`` and ``wrong`` say how."""

    def setup(self, rng: Random, home: Path) -> Parameters:
        rectangles = [
            [rng.randrange(90), rng.randrange(70), rng.randrange(20, 110), rng.randrange(20, 80), colour]
            for colour in rng.sample(["#d02010", "#2040d0", "#20a040", "#e0c020", "#803090"], 3)
        ]
        p: Parameters = {"file": file(rng, "png"), "rectangles": rectangles, **self.more(rng)}
        _drawn(p).save(home / p["file"])
        return p

    def more(self, rng: Random) -> Parameters:
        return {}

    def wanted(self, p: Parameters, picture: Picture) -> Picture:
        raise NotImplementedError

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        raise NotImplementedError

    def saved(self, p: Parameters) -> str:
        return p["file"]

    def check(self, p: Parameters, look: Look) -> float:
        try:
            with Image.open(look.home / self.saved(p)) as there:
                return float(_same(there.convert("RGB"), self.wanted(p, _drawn(p))))
        except OSError:
            return 0.0

    def command(self, p: Parameters, computer: Any) -> None:
        raise NotImplementedError

    def oracle(self, p: Parameters, computer: Any) -> None:
        click(computer, 700, 12)
        self.command(p, computer)
        wait(computer)
        press(computer, "ctrl+s")
        wait(computer)

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        self.wrong(p, _drawn(p)).save(home / self.saved(p))


def _drawn(p: Parameters) -> Picture:
    picture = Image.new("RGB", (WIDTH, HEIGHT), "white")
    for x, y, width, height, colour in p["rectangles"]:
        picture.paste(colour, (x, y, x + width, y + height))
    picture.paste("black", (3, 4, 15, 9))
    return picture


def _same(one: Picture, other: Picture) -> bool:
    return one.size == other.size and one.tobytes() == other.tobytes()


class PaintMirror(_Picture):
    words = "Flip the picture {file} horizontally, as in a mirror, and save it."

    def wanted(self, p: Parameters, picture: Picture) -> Picture:
        return ImageOps.mirror(picture)

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        return ImageOps.flip(picture)

    def command(self, p: Parameters, computer: Any) -> None:
        press(computer, "ctrl+m")


class PaintFlip(_Picture):
    words = "Flip the picture {file} vertically, so that it stands on its head, and save it."

    def wanted(self, p: Parameters, picture: Picture) -> Picture:
        return ImageOps.flip(picture)

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        return picture.rotate(180)

    def command(self, p: Parameters, computer: Any) -> None:
        press(computer, "alt+i", "Down", "Down", "Down", "Return")


class PaintClockwise(_Picture):
    words = "Turn the picture {file} clockwise by a quarter, and save it."
    split = "test"

    def wanted(self, p: Parameters, picture: Picture) -> Picture:
        return picture.transpose(Image.Transpose.ROTATE_270)

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        return picture.transpose(Image.Transpose.ROTATE_90)

    def command(self, p: Parameters, computer: Any) -> None:
        press(computer, "alt+i", *["Down"] * 5, "Return")


class PaintUpsideDown(_Picture):
    words = "Turn the picture {file} by a half, and save it."

    def wanted(self, p: Parameters, picture: Picture) -> Picture:
        return picture.rotate(180)

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        return ImageOps.flip(picture)

    def command(self, p: Parameters, computer: Any) -> None:
        for _ in range(2):
            press(computer, "alt+i", *["Down"] * 5, "Return")
            wait(computer)


class PaintInvert(_Picture):
    words = "Invert the colours of the picture {file}, as in a negative, and save it."

    def wanted(self, p: Parameters, picture: Picture) -> Picture:
        return ImageOps.invert(picture)

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        return ImageOps.invert(ImageOps.mirror(picture))

    def command(self, p: Parameters, computer: Any) -> None:
        press(computer, "ctrl+shift+i")


class PaintResize(_Picture):
    words = "Scale the picture {file} to {width} by {height} pixels, and save it."
    split = "test"

    def more(self, rng: Random) -> Parameters:
        width = rng.choice((100, 120, 160, 240, 300, 320, 400))
        return {"width": width, "height": width * HEIGHT // WIDTH}

    def check(self, p: Parameters, look: Look) -> float:
        try:
            with Image.open(look.home / p["file"]) as there:
                small = there.convert("RGB").resize((WIDTH, HEIGHT), Image.Resampling.BOX)
                pairs = zip(small.tobytes(), _drawn(p).tobytes(), strict=True)
                far = sum(abs(one - other) > 64 for one, other in pairs)
                return float(there.size == (p["width"], p["height"]) and far < 0.1 * 3 * WIDTH * HEIGHT)
        except OSError:
            return 0.0

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        """Its edges are cut off or white instead."""
        return picture.crop((0, 0, p["width"] + 1, p["height"]))

    def command(self, p: Parameters, computer: Any) -> None:
        press(computer, "Prior")
        wait(computer)
        write(computer, f"{p['width']}\t")
        press(computer, "Return")
        wait(computer)
        click(computer, 700, 12)


class PaintSaveAs(_Picture):
    words = "Save the picture {file} flipped horizontally as {new}; {file} stays as it is."

    def more(self, rng: Random) -> Parameters:
        return {"new": f"new-{file(rng, 'png')}"}

    def saved(self, p: Parameters) -> str:
        return p["new"]

    def check(self, p: Parameters, look: Look) -> float:
        try:
            with Image.open(look.home / p["file"]) as old:
                return super().check(p, look) * _same(old.convert("RGB"), _drawn(p))
        except OSError:
            return 0.0

    def wanted(self, p: Parameters, picture: Picture) -> Picture:
        return ImageOps.mirror(picture)

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        return picture

    def oracle(self, p: Parameters, computer: Any) -> None:
        click(computer, 700, 12)
        press(computer, "ctrl+m", "alt+f", "Down", "Down", "Down", "Return")
        save_as(computer, p["new"])


class PaintGrey(_Picture):
    words = "Make the picture {file} grey, by the effect Greyscale, and save it."

    def check(self, p: Parameters, look: Look) -> float:
        """Each colour is a grey of its own, which is about as bright."""
        try:
            with Image.open(look.home / p["file"]) as there:
                seen = there.convert("RGB")
        except OSError:
            return 0.0
        if seen.size != (WIDTH, HEIGHT):
            return 0.0
        dots, levels = np.asarray(seen, np.int16), np.asarray(_drawn(p).convert("L"), np.int16)
        return float((np.ptp(dots, axis=2) == 0).all() and (abs(dots[..., 0] - levels) < 70).all())

    def wrong(self, p: Parameters, picture: Picture) -> Picture:
        return ImageOps.invert(picture.convert("L"))

    def command(self, p: Parameters, computer: Any) -> None:
        press(computer, "ctrl+g")
