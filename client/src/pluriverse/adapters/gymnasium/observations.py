"""An environment's last answer as an observation of its space."""

from __future__ import annotations

from typing import Any

import numpy as np

from pluriverse.adapters.core import Core
from pluriverse.adapters.observations import Observations, state_array
from pluriverse.adapters.pictures import Pixels


class Observer:
    """Makes observations of a core's environments: arrays of their own, or rows of a batch that stays."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._made = Observations(core.spaces, core.pictures)
        self._shape = self._made.state_shape
        n = core.n
        self._vision = np.zeros((n, *core.pictures.shape), np.uint8)
        self._texts = [""] * n
        self._states = np.zeros((n, *self._shape), np.float32) if self._shape is not None else None

    def one(self, index: int) -> Any:
        """The observation of one environment, which is nobody else's."""
        observation = self._made.make(self._core.result(index))
        if self._made.names == ("vision",):
            return np.array(observation)
        return {**observation, "vision": np.array(observation["vision"])}

    def take(self, index: int) -> None:
        """Put the observation of one environment into the batch."""
        turn = self._core.result(index)
        self._vision[index] = self._core.picture(index)
        self._texts[index] = turn.text
        if self._states is not None and self._shape is not None:
            self._states[index] = state_array(turn.state, self._shape)

    def batch(self, *, copy: bool) -> Any:
        """The observations of all; not ``copy``: in arrays that the next call changes."""
        vision: Pixels = self._vision.copy() if copy else self._vision
        if self._made.names == ("vision",):
            return vision
        observation: dict[str, Any] = {"vision": vision}
        if "text" in self._made.names:
            observation["text"] = tuple(self._texts)
        if self._states is not None:
            observation["observation"] = self._states.copy() if copy else self._states
        return observation
