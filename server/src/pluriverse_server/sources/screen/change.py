"""How much of a region has changed since the previous frame."""

from __future__ import annotations

import numpy as np

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Pixels


class ChangeReader:
    """Reads the share of a region's pixels that differ from the previous frame, which it keeps."""

    def __init__(self, tolerance: int) -> None:
        """``tolerance``: by how much each channel may differ."""
        self._tolerance = tolerance
        self._before: Pixels | None = None

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return the share, 0 to 1, and 1.0; None for the first frame, and for one of another size."""
        before, self._before = self._before, pixels.copy()
        if before is None or before.shape != pixels.shape:
            return None, 1.0
        colours, earlier = pixels[..., :3], before[..., :3]
        apart = np.maximum(colours, earlier) - np.minimum(colours, earlier)
        return float((apart > self._tolerance).any(axis=2).mean()), 1.0
