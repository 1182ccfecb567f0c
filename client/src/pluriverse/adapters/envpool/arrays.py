"""The arrays of one ``recv``: stacked pictures, and what else EnvPool returns."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pluriverse.adapters.pictures import Pixels

from .game import Row
from .spec import ENV_ID, PLAYERS_ENV_ID

# EnvPool's names and types of the fields of a ``Row``, in their order.
_FIELDS: Final = (
    ("step_type", np.int32),
    ("elapsed_step", np.int32),
    ("info:lives", np.int32),
    ("reward", np.float32),
    ("info:reward", np.float32),
    ("discount", np.float32),
    ("done", np.bool_),
    ("trunc", np.bool_),
    ("info:terminated", np.int32),
    ("info:lost", np.bool_),
)


def arrays(indices: Sequence[int], rows: Sequence[Row], observations: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Return the results of the environments of ``indices`` by the names of ``PoolSpec.state_array_spec``."""
    columns = zip(_FIELDS, zip(*rows, strict=True), strict=True)
    env_id = np.array(indices, np.int32)
    return {
        **{name: np.array(column, dtype) for (name, dtype), column in columns},
        "obs": observations,
        f"info:{ENV_ID}": env_id,
        f"info:{PLAYERS_ENV_ID}": env_id.copy(),
    }


class Stacks:
    """The last ``depth`` pictures of each of ``n`` environments, uint8, channel first; ``shape`` is that of a stack."""

    def __init__(self, n: int, depth: int, picture: tuple[int, int, int]) -> None:
        """``picture``: height, width and channels of one picture."""
        height, width, channels = picture
        self._depth = depth
        blank = np.zeros((channels, height, width), np.uint8)
        # Rings, so that a push moves no pixels.
        self._planes = [deque([blank] * depth, maxlen=depth) for _ in range(n)]
        self.shape: tuple[int, int, int] = (depth * channels, height, width)

    def fill(self, index: int, picture: Pixels) -> None:
        """Begin an episode: its first picture, (height, width, channels), fills the whole stack."""
        self._planes[index].extend([_channel_first(picture)] * self._depth)

    def push(self, index: int, picture: Pixels) -> None:
        """Replace the oldest picture."""
        self._planes[index].append(_channel_first(picture))

    def copy_to(self, index: int, out: Pixels) -> None:
        """Write a stack, oldest first, into ``out`` of ``shape``."""
        np.concatenate(self._planes[index], out=out)


def _channel_first(picture: Pixels) -> Pixels:
    # A grey picture of its own isn't copied; a view of a screen is, so that the screen can be freed.
    return np.ascontiguousarray(picture.transpose(2, 0, 1))
