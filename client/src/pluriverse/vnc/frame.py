"""A frame: a screen at one moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One whole frame, never torn.

    ``array`` is uint8 of shape (height, width, 3), RGB, or (height, width, 1) where grey was asked for; read-only, and
    it stays as it is for as long as it is kept. ``block`` are the pixels of ``VncOptions.block``, three bytes each, row
    by row; None without one. ``updates`` and ``pixels`` count what had come from the server by then. ``at`` is when the
    last byte of it had been decoded, in UNIX seconds.
    """

    array: NDArray[np.uint8]
    block: bytes | None
    updates: int
    pixels: int
    at: float
