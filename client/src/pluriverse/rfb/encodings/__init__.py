"""One module an encoding. Each reads a rectangle step by step: yields how many bytes it needs, and is sent them."""

from __future__ import annotations

from collections.abc import Callable, Generator

from pluriverse.rfb.canvas import Canvas
from pluriverse.rfb.geometry import Region

Steps = Generator[int, bytes, None]
Reader = Callable[[Canvas, Region], Steps]

__all__ = ["Reader", "Steps"]
