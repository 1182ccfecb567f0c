"""Reading a screen: six digits, a picture, and all sources of a game, beside OpenCV and Tesseract."""

from __future__ import annotations

import contextlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray
from pluriverse_authoring.learn import learn
from pluriverse_server.manifest.sources import PLAIN
from pluriverse_server.sources.reading import ScreenReader, SourceError
from pluriverse_server.sources.screen import Grabber
from pluriverse_server.sources.screen.colour import ColourReader
from pluriverse_server.sources.screen.gauge import BarReader, Shades
from pluriverse_server.sources.screen.glyphs import Glyphs
from pluriverse_server.sources.screen.number import NumberReader, TextReader
from pluriverse_server.sources.screen.template import TemplateReader
from pluriverse_server.sources.screen.tesseract import TesseractReader
from pluriverse_server.x11.connection import open_display
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.glyphs import Pixels, Style, draw
from support.xvfb import xvfb
from Xlib import X

NS_PER_MS: Final = 1_000_000

LEARNT: Final = ("0", "12", "345", "6789", "100", "2468", "13579", "90")
NUMBER: Final = "483920"
STYLE: Final = Style("DejaVuSansMono", colour=(255, 220, 0), background="gradient", align="right")

# Where a game of 800x600 has its score, the message at its end, a bar of health and a lamp.
REGIONS: Final = ([640, 10, 120, 28], [350, 280, 100, 40], [20, 20, 150, 10], [400, 12, 16, 16])


def run(effort: Effort) -> Figures:
    """Milliseconds, as the table's lines say."""
    times = effort.of(3000, 500)
    glyphs = learn([(draw(text, STYLE, seed), text) for seed, text in enumerate(LEARNT)]).glyphs
    shown = [draw(NUMBER, STYLE, seed) for seed in range(100, 110)]
    number = NumberReader(TextReader(glyphs), PLAIN)
    assert all(number.read(pixels)[0] == int(NUMBER) for pixels in shown)
    figures = {"digits": _median_ms(lambda turn: number.read(shown[turn % len(shown)]), times)}
    figures["digits_opencv"] = _median_ms(lambda turn: _match(shown[turn % len(shown)], glyphs), times // 5)
    if (ocr := _tesseract()) is not None:
        figures["digits_ocr"] = _median_ms(lambda turn: ocr.read(shown[turn % len(shown)]), times // 20)
    return figures | _templates(times) | _on_a_screen(number, shown[0], times)


def _templates(times: int) -> Figures:
    blots = np.random.default_rng(1).integers(0, 256, (8, 20, 3), dtype=np.uint8).repeat(5, axis=0).repeat(5, axis=1)
    screen = np.zeros((48, 108, 4), np.uint8)
    screen[4:44, 4:104, :3] = blots
    rgba = np.dstack((blots[..., ::-1], np.full((40, 100), 255, np.uint8)))
    still, moved = TemplateReader(rgba, (100, 40)), TemplateReader(rgba, (108, 48), shift=4)
    there = np.ascontiguousarray(screen[4:44, 4:104])
    assert still.read(there)[0]
    assert moved.read(screen)[0]

    def match(pixels: Pixels) -> None:
        cv2.matchTemplate(np.ascontiguousarray(pixels[..., :3]), blots, cv2.TM_CCOEFF_NORMED)

    return {
        "template": _median_ms(lambda _: still.read(there), times),
        "template_opencv": _median_ms(lambda _: match(there), times),
        "shifted": _median_ms(lambda _: moved.read(screen), times // 5),
        "shifted_opencv": _median_ms(lambda _: match(screen), times // 5),
    }


def _on_a_screen(number: NumberReader, score: Pixels, times: int) -> Figures:
    """A grab of the four regions of a game, and the whole cycle: grab and read them."""
    with xvfb() as server:
        _show(server.name, score)
        with contextlib.closing(Grabber(server.name, REGIONS)) as grabber:
            over = np.dstack((np.random.default_rng(1).integers(0, 256, (40, 100, 3)), np.full((40, 100), 255)))
            readers: tuple[ScreenReader, ...] = (
                number,
                TemplateReader(over.astype(np.uint8), (100, 40)),
                BarReader(Shades(["#dc1e1e"], [], 48), "right"),
                ColourReader(["#00ff00"], 48),
            )

            def cycle(_: int) -> list[tuple[object, float]]:
                return [reader.read(pixels) for reader, pixels in zip(readers, grabber.grab(), strict=True)]

            assert [value for value, _ in cycle(0)] == [int(NUMBER), False, 0.0, 0.0]
            spent = _times_ms(cycle, times)
            return {
                "grab": _median_ms(lambda _: grabber.grab(), times),
                "cycle": percentile(spent, 50),
                "cycle_p99": percentile(spent, 99),
            }


def _show(display: str, pixels: Pixels) -> None:
    connection = open_display(display, Path("/dev/null"))
    root: Any = connection.screen().root
    height, width = pixels.shape[:2]
    x, y = REGIONS[0][:2]
    root.put_image(root.create_gc(), x, y, width, height, X.ZPixmap, 24, 0, pixels.tobytes())
    connection.sync()
    connection.display.socket.close()


def _match(pixels: Pixels, glyphs: Glyphs) -> None:
    """Read with OpenCV the plain way: search for each glyph everywhere."""
    ink: NDArray[np.float32] = glyphs.ink.strength(pixels)
    for picture in glyphs.pictures:
        cv2.matchTemplate(ink, np.ascontiguousarray(picture), cv2.TM_CCOEFF_NORMED)


def _tesseract() -> TesseractReader | None:
    try:
        return TesseractReader("score", number=True)
    except SourceError as error:
        print(f"Tesseract is left out: {error}", file=sys.stderr)
        return None


def _times_ms(action: Callable[[int], object], times: int) -> list[float]:
    spent: list[float] = []
    for turn in range(times):
        began = time.perf_counter_ns()
        action(turn)
        spent.append((time.perf_counter_ns() - began) / NS_PER_MS)
    return spent


def _median_ms(action: Callable[[int], object], times: int) -> float:
    return statistics.median(_times_ms(action, times))


MATCH: Final = "OpenCV's matchTemplate"

MEASUREMENT: Final = Measurement(
    "reading",
    (
        Line("read six digits on a gradient", "ms", "digits", Target(0.3), "digits_opencv", f"{MATCH}, each glyph"),
        Line("read six digits, glyphs to Tesseract", "ms", "digits", None, "digits_ocr", "Tesseract, within tesserocr"),
        Line("look for a picture of 100x40 at one place", "ms", "template", Target(0.5), "template_opencv", MATCH),
        Line("look for it up to 4 pixels away", "ms", "shifted", None, "shifted_opencv", MATCH),
        Line("grab four regions of an Xvfb screen", "ms", "grab"),
        Line("grab and read four sources, p50", "ms", "cycle", Target(1.5)),
        Line("grab and read four sources, p99", "ms", "cycle_p99"),
    ),
    run,
)
