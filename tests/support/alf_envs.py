"""An ALF environment in which everything is known beforehand."""

from typing import Any

import numpy as np
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.data_structures import TimeStep, restart, termination, transition
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec, as_action
from pluriverse.adapters.alf.tensors import Nest

RAISE = 9


class Counting(AlfEnvironment):
    """An episode has ``length`` steps, each with its number as the reward; action 9 breaks it if it ``breaks``.

    The observation is the seed, the episode's number and the step's.
    """

    def __init__(self, env_id: int = 0, length: int = 3, *, breaks: bool = False) -> None:
        observation_spec, action_spec = TensorSpec((3,), "int64"), BoundedTensorSpec((), "int64", 0, 9)
        super().__init__(observation_spec, action_spec, env_info_spec={"even": TensorSpec((), "bool")})
        self.env_id = env_id
        self._length = length
        self._breaks = breaks
        self._seed = 0
        self._episode = 0
        self._steps = 0

    def seed(self, seed: Any) -> None:
        self._seed = seed

    def render(self, mode: str = "rgb_array") -> Any:
        return np.full((2, 2, 3), self.env_id, np.uint8)

    def _observation(self) -> Any:
        return np.array([self._seed, self._episode, self._steps])

    def _reset(self) -> TimeStep:
        self._episode += 1
        self._steps = 0
        return restart(self._observation(), self.action_spec(), env_id=self.env_id, env_info={"even": np.True_})

    def _step(self, action: Nest) -> TimeStep:
        if self._steps == self._length:
            return self.reset()
        action = as_action(self.action_spec(), action)
        if self._breaks and action == RAISE:
            raise ZeroDivisionError("as it was told to")
        self._steps += 1
        make = termination if self._steps == self._length else transition
        even = np.bool_(self._steps % 2 == 0)
        return make(self._observation(), action, float(self._steps), env_id=self.env_id, env_info={"even": even})
