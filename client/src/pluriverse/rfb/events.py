"""Events of a decoder: RFB's own, but the cursor as an array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.rfb.events import (
    Bell,
    ClipboardText,
    EndOfContinuousUpdates,
    Fence,
    Resized,
    UpdateFinished,
)

__all__ = [
    "Bell",
    "ClipboardText",
    "CursorShape",
    "EndOfContinuousUpdates",
    "Event",
    "Fence",
    "Resized",
    "UpdateFinished",
]


@dataclass(frozen=True, slots=True, eq=False)
class CursorShape:
    """The pointer's picture: RGBA, uint8 of shape (height, width, 4), alpha 0 or 255; empty where there is none.

    (``hotspot_x``, ``hotspot_y``) is the pixel of the picture that points.
    """

    hotspot_x: int
    hotspot_y: int
    rgba: NDArray[np.uint8]


Event = UpdateFinished | Resized | Bell | ClipboardText | Fence | EndOfContinuousUpdates | CursorShape
