"""Makes observations of results: the picture alone, or with texts and structured observations beside it. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.env_spaces import Spaces

from pluriverse.errors import RemoteFailed
from pluriverse.rewarder.result import Result

from .pictures import Pictures


class Observations:
    """Makes the observations of one environment.

    ``names`` are its parts: ``vision`` (uint8 of shape ``pictures.shape``), and where the remote sends them ``text``
    (str) and ``observation`` (float32 of shape ``state_shape``). If there is only ``vision``, an observation is that
    array, else a dict of the parts.
    """

    def __init__(self, spaces: Spaces | None, pictures: Pictures) -> None:
        """``spaces`` None: not known; texts are left out."""
        self.pictures: Pictures = pictures
        self.state_shape: tuple[int, ...] | None = spaces.observation if spaces is not None else None
        names = ["vision"]
        if spaces is not None and spaces.text:
            names.append("text")
        if self.state_shape is not None:
            names.append("observation")
        self.names: tuple[str, ...] = tuple(names)

    def make(self, result: Result, *, copy: bool = False) -> Any:
        """Return the observation of a result. ``copy``: in arrays of its own, not views of the screen."""
        vision = self.pictures.make(result.picture)
        if copy:
            vision = np.array(vision)
        if len(self.names) == 1:
            return vision
        parts: dict[str, Any] = {"vision": vision}
        if "text" in self.names:
            parts["text"] = result.text
        if self.state_shape is not None:
            parts["observation"] = state_array(result.observation, self.state_shape)
        return parts


def state_array(state: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a structured observation as a new array; zeros while there is none."""
    if state is None:
        return np.zeros(shape, np.float32)
    try:
        array = np.array(state, np.float32)
    except (TypeError, ValueError) as error:
        raise RemoteFailed(f"the remote sent {state!r:.80}, expected numbers of shape {shape}: {error}") from error
    if array.shape != shape:
        raise RemoteFailed(f"the remote sent an observation of shape {array.shape}, though it had said {shape}")
    return array
