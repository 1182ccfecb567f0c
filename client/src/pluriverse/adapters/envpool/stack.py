"""The last pictures of each environment, channel first, as a ring: a push moves nothing that was there before."""

from __future__ import annotations

from collections import deque

import numpy as np

from pluriverse.adapters.pictures import Pixels


class Stacks:
    """``depth`` pictures of each of ``n`` environments, uint8; ``shape`` is that of one stack."""

    def __init__(self, n: int, depth: int, picture: tuple[int, int, int]) -> None:
        """``picture``: height, width and channels of one."""
        height, width, channels = picture
        self._depth = depth
        blank = np.zeros((channels, height, width), np.uint8)
        self._planes = [deque([blank] * depth, maxlen=depth) for _ in range(n)]
        self.shape = (depth * channels, height, width)

    def fill(self, index: int, picture: Pixels) -> None:
        """An episode's first picture, (height, width, channels), stands for those that weren't before it."""
        self._planes[index].extend([_planes(picture)] * self._depth)

    def push(self, index: int, picture: Pixels) -> None:
        """A new picture takes the place of the oldest."""
        self._planes[index].append(_planes(picture))

    def copy_to(self, index: int, out: Pixels) -> None:
        """Write a stack, oldest first, into ``out`` of ``shape``."""
        np.concatenate(self._planes[index], out=out)


def _planes(picture: Pixels) -> Pixels:
    """Channel first. A grey picture of its own is kept as it is; a part of a screen is copied, which is then let go."""
    return np.ascontiguousarray(picture.transpose(2, 0, 1))
