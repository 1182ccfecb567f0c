"""Reads numbers and texts in any font by Tesseract, more slowly and less reliably than glyphs. Needs tesserocr."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import MAX_TEXT_CHARS, Pixels, SourceError

from .number import number_in

# Where Debian 12 and 13 install tesseract-ocr-eng.
TESSDATA: Final = Path("/usr/share/tesseract-ocr/5/tessdata")
LANGUAGE: Final = "eng"

# Tesseract was trained on lines of about this height; smaller text is enlarged.
LINE_HEIGHT: Final = 48
MAX_ENLARGEMENT: Final = 6

# Tesseract misses text that touches the edge.
BORDER: Final = 10

NUMBER_CHARACTERS: Final = "0123456789.,:+-"


class TesseractReader:
    def __init__(self, name: str, *, number: bool) -> None:
        self._number = number
        self._api = _started(name)
        if number:
            self._api.SetVariable("tessedit_char_whitelist", NUMBER_CHARACTERS)

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        grey = pixels[..., :3].max(axis=2)
        if int(grey.max()) - int(grey.min()) < 16:
            return None, 1.0
        self._api.SetImage(_prepared(grey))
        text = self._api.GetUTF8Text().strip()[:MAX_TEXT_CHARS]
        words: list[int] = self._api.AllWordConfidences()
        confidence = min(words, default=0) / 100
        if not text or not self._number:
            return text or None, confidence
        number = number_in(text)
        return (None, 0.0) if number is None else (number, confidence)


def _started(name: str) -> Any:
    try:
        import tesserocr
    except ImportError as error:
        raise SourceError(
            f"{name}: without glyphs it is read by Tesseract, which isn't installed ({error}); install it with: "
            'pip install "pluriverse-server[ocr]" and apt-get install tesseract-ocr-eng; or learn its glyphs'
        ) from None
    data = Path(os.environ.get("TESSDATA_PREFIX", TESSDATA))
    start: Callable[..., Any] = tesserocr.PyTessBaseAPI
    try:
        return start(path=str(data), lang=LANGUAGE, psm=tesserocr.PSM.SINGLE_LINE)
    except RuntimeError as error:
        raise SourceError(
            f"{name}: Tesseract finds no {LANGUAGE}.traineddata in {data} ({error}); install it with: "
            "apt-get install tesseract-ocr-eng; or set TESSDATA_PREFIX to where it is"
        ) from None


def _prepared(grey: NDArray[np.uint8]) -> Image.Image:
    """Return dark text on light, enlarged to the height that Tesseract reads best."""
    # Text is the smaller part of a region.
    middle = (int(grey.max()) + int(grey.min())) / 2
    picture = Image.fromarray(255 - grey if (grey < middle).mean() > 0.5 else grey)
    times = min(MAX_ENLARGEMENT, -(-LINE_HEIGHT // picture.height))
    picture = picture.resize((picture.width * times, picture.height * times), Image.Resampling.BICUBIC)
    bordered = Image.new("L", (picture.width + 2 * BORDER, picture.height + 2 * BORDER), picture.getpixel((0, 0)))
    bordered.paste(picture, (BORDER, BORDER))
    return bordered
