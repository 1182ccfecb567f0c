"""What a decoder has to tell beside the picture: frozen, and no two related."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class UpdateFinished:
    """A framebuffer update is complete: the picture is whole.

    ``rectangles`` and ``pixels`` count what it brought in pictures, also outside of the regions that are decoded; a
    pseudo-rectangle (a cursor, a size) doesn't count.
    """

    rectangles: int
    pixels: int


@dataclass(frozen=True, slots=True)
class Resized:
    """The desktop has another size, in pixels: ``framebuffer`` is a new array, black until it is updated."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Bell:
    """The server rang."""


@dataclass(frozen=True, slots=True)
class ClipboardText:
    """Text was copied on the server's side."""

    text: str


@dataclass(frozen=True, slots=True)
class Fence:
    """The server set a fence. With ``FenceFlag.REQUEST`` among ``flags`` it waits for the payload to come back."""

    flags: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class EndOfContinuousUpdates:
    """The first one says that the server knows continuous updates, any later one that they were turned off."""


@dataclass(frozen=True, slots=True, eq=False)
class CursorShape:
    """The pointer's picture: RGBA, uint8 of shape (height, width, 4), alpha 0 or 255; empty where there is none.

    (``hotspot_x``, ``hotspot_y``) is the pixel of the picture that points.
    """

    hotspot_x: int
    hotspot_y: int
    rgba: NDArray[np.uint8]


Event = UpdateFinished | Resized | Bell | ClipboardText | Fence | EndOfContinuousUpdates | CursorShape
