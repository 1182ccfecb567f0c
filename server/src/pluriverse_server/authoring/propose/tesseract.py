"""Proposes numbers and texts as Tesseract reads them."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels, SourceError
from pluriverse_server.sources.screen.tesseract import TesseractReader

from .lines import answer, questions


def main() -> None:
    """Answer each question; whether something is visible can't be read, and is left to the person."""
    readers: dict[bool, Callable[[Pixels], tuple[Value, float]]] = {}
    for question in questions():
        if question.kind == "boolean":
            answer(question, None, 0.0)
            continue
        number = question.kind == "number"
        if number not in readers:
            readers[number] = TesseractReader(question.source, number=number).read
        answer(question, *readers[number](np.asarray(question.crop())))


if __name__ == "__main__":
    try:
        main()
    except SourceError as error:
        sys.exit(str(error))
