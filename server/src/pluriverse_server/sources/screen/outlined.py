"""Finds what an outline encloses: the strokes of outlined glyphs, whatever lies behind them and in their holes. Pure.

From outside to inside there are the ground, the outline, the stroke, the outline again, and a hole, where the ground is
seen. So it doesn't matter that the ground has the stroke's colour, or the outline's, in places.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

Mask = NDArray[np.bool_]

# An outline further from all strokes that are closed belongs to another one, which isn't.
OUTLINE_WIDTH: Final = 4


def strokes(ink: NDArray[np.float32], wall: Mask) -> NDArray[np.float32]:
    """Return the ``ink``, of the stroke's colour, that is within ``wall``, the pixels of the outline's colour.

    Ink beside an outline that isn't closed stays: half of a glyph must not pass for none.
    """
    clear = ~wall
    outside = _spread(_border(clear), clear)
    outline = _spread(_border(wall) | (wall & _grown(outside, 1)), wall)
    within = _spread(clear & ~outside & _grown(outline, 1), clear)
    torn = outside & _grown(wall & ~_grown(within & (ink > 0), OUTLINE_WIDTH), 1)
    return ink * (within | torn)


def _border(mask: Mask) -> Mask:
    border = mask.copy()
    border[1:-1, 1:-1] = False
    return border


def _grown(mask: Mask, by: int) -> Mask:
    return np.asarray(Image.fromarray(mask.astype(np.uint8)).filter(ImageFilter.MaxFilter(2 * by + 1))) > 0


def _spread(seeds: Mask, through: Mask) -> Mask:
    """Return all of ``through`` that is connected to ``seeds`` by rows and columns."""
    rows, columns = _runs(through), _runs(through.T).T
    reached, before = seeds & through, -1
    while before != (before := int(reached.sum())):
        for runs in (rows, columns):
            hit = np.zeros(through.size + max(through.shape) + 1, np.bool_)
            hit[runs[reached]] = True
            reached = through & hit[runs]
    return reached


def _runs(mask: Mask) -> NDArray[np.intp]:
    """Number the runs of each row."""
    # A column that is never within makes runs end where rows do.
    ended = np.pad(~mask, ((0, 0), (0, 1)), constant_values=True)
    return np.cumsum(ended.reshape(-1), dtype=np.intp).reshape(ended.shape)[:, :-1]
