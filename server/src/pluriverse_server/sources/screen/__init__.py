"""Sources on the screen: numbers, texts, pictures, bars and colours in regions. One module for each kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pluriverse_server.manifest import sources as tables
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels, ScreenReader, SourceError

from .colour import ColourReader
from .gauge import BarReader, Shades
from .glyphs import load_glyphs
from .grab import Grabber, ScreenLost
from .number import NumberReader, TextReader
from .python import PythonReader
from .template import load_template

__all__ = ["Grabber", "ScreenLost", "make_reader"]


def make_reader(name: str, table: tables.ScreenSource, directory: Path) -> ScreenReader:
    """Make the reader of source ``name`` of the runtime in ``directory``, for one region."""
    return _UnlessSame(_make_reader(name, table, directory))


class _UnlessSame:
    """Reads only what has changed: most pictures of a region are like those before."""

    def __init__(self, reader: ScreenReader) -> None:
        self._reader = reader
        self._pixels: Pixels | None = None
        self._result: tuple[Value, float] = (None, 0.0)

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        if self._pixels is None or not np.array_equal(pixels, self._pixels):
            self._result = self._reader.read(pixels)
            self._pixels = pixels.copy()
        return self._result


def _make_reader(name: str, table: tables.ScreenSource, directory: Path) -> ScreenReader:
    match table:
        case tables.NumberSource() | tables.TextSource():
            return _make_line_reader(name, table, directory)
        case tables.TemplateSource(image=image, threshold=threshold, shift=shift):
            region = (table.region[2], table.region[3])
            return load_template(directory / image, name, region, threshold, shift)
        case tables.BarSource(colour=full, empty=empty, tolerance=tolerance, direction=direction):
            return BarReader(Shades(full, empty, tolerance), direction)
        case tables.ColourSource(colour=colour, tolerance=tolerance):
            return ColourReader(colour, tolerance)
        case tables.PythonSource(file=file):
            return PythonReader(directory / file, name)
        case _:
            raise TypeError(f"no reader of {type(table).__name__}")


def _make_line_reader(name: str, table: tables.NumberSource | tables.TextSource, directory: Path) -> ScreenReader:
    number = isinstance(table, tables.NumberSource)
    alone = number and table.written == tables.PLAIN
    if table.glyphs is None:
        from .tesseract import TesseractReader

        reader = TesseractReader(name, number=alone)
        return NumberReader(reader, table.written) if number and not alone else reader
    path = directory / table.glyphs
    glyphs = load_glyphs(path, name, directory)
    if table.region[3] < glyphs.height:
        raise SourceError(
            f"{name}: the glyphs of {path} are {glyphs.height} pixels high, its region has {table.region[3]}; make the "
            f"region higher, or learn anew with: pluriverse-server learn {directory} {name}"
        )
    return NumberReader(TextReader(glyphs), table.written) if number else TextReader(glyphs)
