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


class TemplateReader:
    """Looks for a picture in the middle of a region, and up to ``shift`` pixels away from there.

    The similarity is 1 minus the ratio of the squared differences to the squared deviations of both from the picture's
    mean colour: 1 if they are equal, 0 if they have nothing in common. Transparent parts of the picture don't count.
    """

    def __init__(
        self, picture: NDArray[np.uint8], region: tuple[int, int], threshold: float = 0.9, shift: int = 0
    ) -> None:
        """``picture`` is RGBA of shape (height, width, 4); ``region`` is the width and height of the source's region.

        Raises:
            ValueError: the region is too small for the picture and its shifts, or the picture is wholly transparent.
        """
        height, width = picture.shape[:2]
        self._width, self._height = width, height
        self._left, self._top = (region[0] - width) // 2 - shift, (region[1] - height) // 2 - shift
        if min(self._left, self._top) < 0 or region[0] < width + 2 * shift or region[1] < height + 2 * shift:
            raise ValueError(
                f"the picture of {width}x{height} pixels, moved by {shift} each way, needs a region of at least "
                f"{width + 2 * shift}x{height + 2 * shift}, not {region[0]}x{region[1]}"
            )
        self._threshold, self._shift = threshold, shift
        opaque = (picture[..., 3] >= 128).astype(np.float32)
        if not opaque.any():
            raise ValueError("the picture is wholly transparent")
        colours = picture[..., 2::-1].astype(np.float32)
        self._mean = np.average(colours, axis=(0, 1), weights=np.repeat(opaque[..., None], 3, axis=2)).astype(
            np.float32
        )
        self._opaque = opaque
        self._picture = (colours - self._mean) * opaque[..., None]
        self._flat = float(opaque.sum()) * 3 * FLAT**2
        self._energy = float(np.square(self._picture).sum()) + self._flat
        self._spectra = self._transformed() if shift else None

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return whether it is there; the confidence is 0.5 if the similarity equals the threshold."""
        similarity = self.similarity(pixels)
        return similarity >= self._threshold, min(1.0, 0.5 + 0.5 * abs(similarity - self._threshold) / DOUBT)

    def similarity(self, pixels: Pixels) -> float:
        """Return the similarity of the most similar place, 0 to 1."""
        top, left = self._top, self._left
        reach = 2 * self._shift
        around = pixels[top : top + self._height + reach, left : left + self._width + reach, :3] - self._mean
        if self._spectra is None:
            around *= self._opaque[..., None]
            common, there = float(np.vdot(around, self._picture)), float(np.vdot(around, around))
            return self._similar(np.float64(common), np.float64(there))
        shape = around.shape[:2]
        seen = np.fft.rfft2(around, axes=(0, 1))
        common = np.fft.irfft2((seen * self._spectra[0]).sum(axis=2), shape)[: reach + 1, : reach + 1]
        squares = np.fft.rfft2(np.square(around).sum(axis=2))
        there = np.fft.irfft2(squares * self._spectra[1], shape)[: reach + 1, : reach + 1]
        return self._similar(common, there)

    def _similar(self, common: NDArray[np.float64] | np.float64, there: NDArray[np.float64] | np.float64) -> float:
        """Return the best similarity, from the correlation with the screen and the screen's deviation at each place."""
        # |a - b|² is |a|² + |b|² - 2ab, so that 1 - |a - b|² / (|a|² + |b|²) is:
        return max(0.0, float(np.max((2 * common + self._flat) / (there + self._energy))))

    def _transformed(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        shape = (self._height + 2 * self._shift, self._width + 2 * self._shift)
        picture = np.fft.rfft2(self._picture, shape, axes=(0, 1))
        return np.conj(picture), np.conj(np.fft.rfft2(self._opaque, shape))


def load_template(path: Path, name: str, region: tuple[int, int], threshold: float, shift: int) -> TemplateReader:
    """Make the reader of a picture for source ``name``; raise SourceError if the file or the region doesn't fit."""
    remedy = "cut it out of a picture of the screen, and save it as PNG"
    image = open_png(path, name, remedy)
    try:
        return TemplateReader(np.asarray(image.convert("RGBA")), region, threshold, shift)
    except ValueError as error:
        raise SourceError(f"{name}: {path}: {error}; {remedy}") from None
