"""Pictures that were taken of the screen, whose regions are read as long as they are kept."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.sources.reading import Pixels, SourceError
from pluriverse_server.sources.screen.grab import require_on_screen

from .proposals import Proposal, Proposer

# Of so many pictures regions may still be read: those of a person who goes back and forth.
FRAMES_KEPT: Final = 8

# Pictures are looked at once; speed matters more than size.
PNG_LEVEL: Final = 1

# x, y, width and height in pixels of the screen.
Region = tuple[int, int, int, int]


class Pictures:
    """Takes pictures with ``grab``, and has regions of them read."""

    def __init__(self, folder: Path, grab: Callable[[], Pixels]) -> None:
        """``folder`` is the runtime's, whose glyphs are tried."""
        self._grab = grab
        self._proposer = Proposer(folder)
        self._proposing = threading.Lock()
        self._frames: dict[int, Pixels] = {}
        self._number = 0

    async def take(self) -> tuple[int, bytes]:
        """Take a picture; return its number and its PNG. Raises AuthoringError if there is no screen."""
        pixels = await asyncio.to_thread(self._grab)
        self._number += 1
        self._frames[self._number] = pixels
        for number in list(self._frames)[:-FRAMES_KEPT]:
            del self._frames[number]
        return self._number, await asyncio.to_thread(_png, pixels)

    def part(self, number: int, asked: Sequence[int]) -> tuple[Pixels, Region]:
        """Return a region of a picture; raise AuthoringError if that is gone, or hasn't the region."""
        frame = self._frames.get(number)
        if frame is None:
            raise AuthoringError("that picture is too old; take a new one and drag the region again")
        x, y, width, height = (int(each) for each in asked)
        try:
            require_on_screen("the region", (x, y, width, height), frame.shape[1], frame.shape[0])
        except SourceError as error:
            raise AuthoringError(str(error)) from error
        return frame[y : y + height, x : x + width], (x, y, width, height)

    async def propose(self, pixels: Pixels, region: Region) -> tuple[list[Proposal], list[str]]:
        """Return what each reader makes of a region, and what those lack that can't be tried."""

        def propose() -> tuple[list[Proposal], list[str]]:
            with self._proposing:
                return self._proposer.propose(pixels, region)

        return await asyncio.to_thread(propose)


def _png(pixels: Pixels) -> bytes:
    png = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels[..., 2::-1])).save(png, "png", compress_level=PNG_LEVEL)
    return png.getvalue()
