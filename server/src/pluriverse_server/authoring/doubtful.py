"""Shows the crops that learnt glyphs don't read as they are labelled: a page with pictures, beside their recording."""

from __future__ import annotations

import html
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from pluriverse_server.sources.reading import Pixels

from .labels import beside
from .report import PAGE, STYLE

SUFFIX: Final = ".doubtful"

# Crops are small; what is wrong with one is seen enlarged.
ENLARGED: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """A crop's number, its pixels, how it is labelled, and how it was read."""

    crop: int
    pixels: Pixels
    label: str
    text: str
    confidence: float


def write_doubts(recording: Path, source: str, doubts: Sequence[tuple[float, Doubt]]) -> Path | None:
    """Write the page with a recording's doubtful crops of a source, each with its time; return it, None without any."""
    folder = beside(recording, SUFFIX) / source
    # Older pictures would only confuse.
    shutil.rmtree(folder, ignore_errors=True)
    if not doubts:
        return None
    folder.mkdir(parents=True)
    figures: list[str] = []
    for number, (at, doubt) in enumerate(doubts, 1):
        picture = Image.fromarray(np.ascontiguousarray(doubt.pixels[..., 2::-1]))
        size = (picture.width * ENLARGED, picture.height * ENLARGED)
        name = f"{number:03}.png"
        picture.resize(size, Image.Resampling.NEAREST).save(folder / name)
        reading = f"reads {doubt.text!r} with a confidence of {doubt.confidence:.2f}"
        said = f"{clock(at)}: labelled {doubt.label!r}, {reading}"
        figures.append(f'<figure><figcaption>{html.escape(said)}</figcaption><img src="{name}" alt=""></figure>')
    title = html.escape(f"{recording.name}: doubtful crops of {source}")
    page = folder / PAGE
    page.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{title}</h1>{''.join(figures)}</html>\n",
        encoding="utf-8",
    )
    return page


def clock(at: float) -> str:
    """Format a time as the label page does."""
    minutes, seconds = divmod(round(at, 3), 60)
    return f"{minutes:.0f}:{seconds:06.3f}"
