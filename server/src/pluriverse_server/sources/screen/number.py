"""Reads numbers and texts by their glyphs. Pure."""

from __future__ import annotations

import re
from typing import Final

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import ANYTHING, PLAIN
from pluriverse_server.sources.reading import Pixels, ScreenReader

from .glyphs import Glyphs
from .line import Line

# Between groups of three digits; a comma is never a decimal point, since that would be ambiguous.
SEPARATORS: Final = " ,'_"
_GROUPED: Final = re.compile(rf"[+-]?\d{{1,3}}(?:([{SEPARATORS}])\d{{3}})(?:\1\d{{3}})*(?:\.\d+)?")
_PLAIN: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")

# The parts of a line as it is written. Spaces may have any width, even none.
_PART: Final = re.compile(r"(\{\}|\*| )")
_PARTS: Final = {PLAIN: "(?P<number>.*)", ANYTHING: ".*?", " ": " *"}

# The digits of the largest whole numbers that a float holds exactly; longer ones are misread.
MAX_DIGITS: Final = 15


class TextReader:
    """Reads a line of text; the value is None without ink."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._line = Line(glyphs)
        self._spaced = glyphs.spaced

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        spelling = self._line.read(pixels)
        if " " in spelling.text and not self._spaced:
            return None, 0.0
        return spelling.text or None, spelling.confidence


class NumberReader:
    """Reads the number in a line; the value is None without ink, or if the line is written otherwise."""

    def __init__(self, text: ScreenReader, written: str) -> None:
        """``text`` reads the line. ``written`` is the line with ``{}`` for the number, and ``*`` for anything."""
        self._text = text
        self._line = re.compile("".join(_PARTS.get(part, re.escape(part)) for part in _PART.split(written)))

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        text, confidence = self._text.read(pixels)
        if not isinstance(text, str):
            return None, confidence
        line = self._line.fullmatch(text)
        number = number_in(line["number"]) if line else None
        return (None, 0.0) if number is None else (number, confidence)


def number_in(text: str) -> float | None:
    """Return the number in a text such as ``-12``, ``007``, ``3.5`` or ``1,234,567``; None if it isn't one."""
    text = text.strip()
    if _GROUPED.fullmatch(text):
        text = re.sub(f"[{SEPARATORS}]", "", text)
    if not _PLAIN.fullmatch(text) or sum(map(str.isdigit, text)) > MAX_DIGITS:
        return None
    return float(text)
