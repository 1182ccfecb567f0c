"""One module an encoding. Each reads a rectangle step by step: yields how many bytes it needs, and is sent them."""

from __future__ import annotations

from collections.abc import Callable

from pluriverse_protocol.rfb.errors import BadData
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.steps import Steps as _Steps

from pluriverse.rfb.canvas import Canvas
from pluriverse.rfb.picture import Pixels

Steps = _Steps[None]
Reader = Callable[[Canvas, Region], Steps]

__all__ = ["Reader", "Steps", "look_up"]


def look_up(palette: Pixels, indices: Pixels) -> Pixels:
    """The colours that the indices stand for; raise ``BadData`` if the palette has fewer."""
    if indices.size and indices.max() >= len(palette):
        raise BadData(f"colour {indices.max()} of a palette of {len(palette)}")
    # The indices are known to be good: clipping them is quicker than checking them again.
    return palette.take(indices, axis=0, mode="clip")
