"""Which boxes of a page are hidden behind others that let nothing through. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.trees import Rectangle

# Beyond these the smallest are taken to hide nothing: each is compared with every box.
MAX_COVERS: Final = 256


class Drawn(NamedTuple):
    """A box of what is drawn: what is painted later has a higher ``order``. ``nodes`` are its own and those in it."""

    box: Rectangle
    order: int
    nodes: range
    opaque: bool


def covered(drawn: Sequence[Drawn]) -> list[bool]:
    """Return which of them are wholly behind one that is opaque, painted later, and not in them."""
    covers = sorted((each for each in drawn if each.opaque), key=_area, reverse=True)[:MAX_COVERS]
    if not covers:
        return [False] * len(drawn)
    boxes, over = np.array([each.box for each in drawn])[:, None], np.array([each.box for each in covers])
    orders, order_over = np.array([each.order for each in drawn])[:, None], np.array([each.order for each in covers])
    nodes = np.array([(each.nodes.start, each.nodes.stop) for each in drawn])[:, None]
    node_over = np.array([each.nodes.start for each in covers])
    within = (boxes[..., :2] >= over[:, :2]).all(2) & (boxes[..., 2:] <= over[:, 2:]).all(2)
    inside = (nodes[..., 0] <= node_over) & (node_over < nodes[..., 1])
    hidden: NDArray[np.bool_] = np.any(within & (orders < order_over) & ~inside, axis=1)
    return hidden.tolist()


def _area(drawn: Drawn) -> float:
    left, top, right, bottom = drawn.box
    return max(0.0, right - left) * max(0.0, bottom - top)
