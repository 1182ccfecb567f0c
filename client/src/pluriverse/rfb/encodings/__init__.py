"""One module an encoding. Each reads a rectangle step by step: yields how many bytes it needs, and is sent them."""

from __future__ import annotations

from collections.abc import Callable

from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.steps import Steps as _Steps

from pluriverse.rfb.canvas import Canvas

Steps = _Steps[None]
Reader = Callable[[Canvas, Region], Steps]

__all__ = ["Reader", "Steps"]
