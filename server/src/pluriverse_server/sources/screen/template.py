"""Finds a picture on the screen. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels, SourceError

from .images import open_png

# In levels of a channel: anything flatter has no shape to compare.
FLAT: Final = 8.0

# Further than this from the threshold the confidence is 1; it is 0.8 at three fifths of it.
DOUBT: Final = 0.05


class Template:
    """A picture, and how similar it is to places of the screen.

    The similarity is 1 minus the ratio of the squared differences to the squared deviations of both from the picture's
    mean colour: 1 if they are equal, 0 if they have nothing in common. Transparent parts of the picture don't count.
    """

    def __init__(self, picture: NDArray[np.uint8], area: tuple[int, int]) -> None:
        """``picture`` is RGBA of shape (height, width, 4); ``area``: width and height of where it is looked for."""
        self.height, self.width = picture.shape[:2]
        # Smoothed edges show what is behind them: they count as far as they are more than half opaque.
        opaque = np.clip(picture[..., 3].astype(np.float32) / 127.5 - 1, 0, 1)
        if not opaque.any():
            raise ValueError("the picture is fully transparent")
        colours = picture[..., 2::-1].astype(np.float32)
        self._mean = np.average(colours, axis=(0, 1), weights=np.repeat(opaque[..., None], 3, axis=2)).astype(
            np.float32
        )
        self._opaque = opaque
        self._picture = (colours - self._mean) * opaque[..., None]
        self._flat = float(opaque.sum()) * 3 * FLAT**2
        self._energy = float(np.vdot(self._picture, colours - self._mean)) + self._flat
        # Of more than one place, by Fourier transforms.
        self._shape = None if area == (self.width, self.height) else (area[1], area[0])
        if self._shape is not None:
            self._spectrum = np.conj(np.fft.rfft2(self._picture, self._shape, axes=(0, 1)))
            self._opaque_spectrum = np.conj(np.fft.rfft2(opaque, self._shape))

    def similarities(self, pixels: Pixels) -> NDArray[np.float64]:
        around = pixels[..., :3] - self._mean
        if self._shape is None:
            common, there = np.vdot(around, self._picture), np.vdot(around, around * self._opaque[..., None])
            return self._similar(np.array([[common]], np.float64), np.array([[there]], np.float64))
        rows, columns = self._shape[0] - self.height + 1, self._shape[1] - self.width + 1
        seen = np.fft.rfft2(around, axes=(0, 1))
        common = np.fft.irfft2((seen * self._spectrum).sum(axis=2), self._shape)[:rows, :columns]
        squares = np.fft.rfft2(np.square(around).sum(axis=2))
        there = np.fft.irfft2(squares * self._opaque_spectrum, self._shape)[:rows, :columns]
        return self._similar(common, there)

    def _similar(self, common: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the similarities, from the correlation with the screen and the screen's deviation at each place."""
        # |a - b|² is |a|² + |b|² - 2ab, so that 1 - |a - b|² / (|a|² + |b|²) is:
        return np.maximum(0.0, (2 * common + self._flat) / (there + self._energy))


class TemplateReader:
    """Looks for a picture in the middle of a region, and up to ``shift`` pixels away from there."""

    def __init__(
        self, picture: NDArray[np.uint8], region: tuple[int, int], threshold: float = 0.9, shift: int = 0
    ) -> None:
        """``picture`` is RGBA of shape (height, width, 4); ``region``: width and height of the source's region."""
        height, width = picture.shape[:2]
        self._wide, self._high = width + 2 * shift, height + 2 * shift
        self._left, self._top = (region[0] - width) // 2 - shift, (region[1] - height) // 2 - shift
        if min(self._left, self._top) < 0 or region[0] < self._wide or region[1] < self._high:
            raise ValueError(
                f"the picture of {width}x{height} pixels, moved by {shift} each way, needs a region of at least "
                f"{self._wide}x{self._high}, not {region[0]}x{region[1]}"
            )
        self._threshold = threshold
        self._template = Template(picture, (self._wide, self._high))

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return whether it is there; the confidence is 0.5 if the similarity equals the threshold."""
        similarity = self.similarity(pixels)
        return similarity >= self._threshold, _confidence(similarity, self._threshold)

    def similarity(self, pixels: Pixels) -> float:
        middle = pixels[self._top : self._top + self._high, self._left : self._left + self._wide]
        return float(self._template.similarities(middle).max())


def _confidence(similarity: float, threshold: float) -> float:
    return min(1.0, 0.5 + 0.5 * abs(similarity - threshold) / DOUBT)


def load_template(path: Path, name: str, region: tuple[int, int], threshold: float, shift: int) -> TemplateReader:
    """Make the reader of a picture for source ``name``; raise SourceError if the file or the region doesn't fit."""
    remedy = "cut it out of a picture of the screen, and save it as PNG"
    image = open_png(path, name, remedy)
    try:
        return TemplateReader(np.asarray(image.convert("RGBA")), region, threshold, shift)
    except ValueError as error:
        raise SourceError(f"{name}: {path}: {error}; {remedy}") from None
