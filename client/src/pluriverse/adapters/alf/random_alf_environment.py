"""``RandomAlfEnvironment``: random observations as a spec says, to try agents and wrappers with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import nest
from .alf_environment import AlfEnvironment, Description
from .data_structures import GOES_ON, StepType, TimeStep, restart, termination, transition
from .nest import Nest
from .tensor_specs import BoundedTensorSpec, TensorSpec
from .tensors import Array, Refused, Tensor, as_array


class RandomAlfEnvironment(AlfEnvironment):
    """Observations are drawn, and so is when an episode ends."""

    def __init__(
        self,
        observation_spec: Nest,
        action_spec: Nest,
        env_id: int | None = None,
        episode_end_probability: float = 0.1,
        discount: float | Sequence[float] = GOES_ON,
        reward_fn: Callable[[np.int32, Nest, Nest], Any] | None = None,
        batch_size: int | None = None,
        seed: int = 42,
        render_size: Sequence[int] = (2, 2, 3),
        min_duration: int = 0,
        max_duration: int | None = None,
        use_tensor_time_step: bool = False,
    ) -> None:
        """Draw from 0 to 1 what has no bounds; of actions only the structure is checked.

        An episode has ``min_duration`` to ``max_duration`` steps, and each of those between is its last with
        ``episode_end_probability``. ``reward_fn`` returns the reward of a step type, an action and an observation;
        None: 0. A batch of ``batch_size`` begins and ends together; its ``discount`` may be one for each.
        """
        batched = batch_size is not None
        one = Description(observation_spec, action_spec, is_tensor_based=use_tensor_time_step)
        super().__init__(dataclasses.replace(one, batched=batched, batch_size=batch_size or 1))
        self._env_id = None if batched else env_id
        self._end_probability = episode_end_probability
        if np.shape(discount) not in ((), self._outer_dims):
            raise Refused(f"the discount is {discount!r:.80}; expected one, or one for each of {batch_size}")
        self._discount = discount
        self._reward_fn = reward_fn
        self._rng = np.random.RandomState(seed)
        self._render_size = render_size
        self._durations = (min_duration, max_duration)
        self._steps: int | None = None

    def seed(self, seed: int) -> None:
        """Seed all that is drawn."""
        self._rng.seed(seed)

    def render(self, mode: str = "rgb_array") -> Array:
        """Return a random picture."""
        if mode != "rgb_array":
            return super().render(mode)
        return self._rng.randint(0, 256, self._render_size, np.uint8)

    def _reset(self) -> TimeStep:
        self._steps = 0
        return self._out(restart(self._observation(), self.action_spec(), env_id=self._env_id, batched=self.batched))

    def _step(self, action: Nest) -> TimeStep:
        if self._steps is None:
            return self.reset()
        nest.assert_same_structure(self.action_spec(), action)
        action = nest.map_structure(self._batched, action)
        self._steps += 1
        shortest, longest = self._durations
        drawn = self._rng.uniform() < self._end_probability
        ends = self._steps >= shortest and (drawn or (longest is not None and self._steps >= longest))
        observation = self._observation()
        reward = np.zeros(self._outer_dims, np.float32)
        if self._reward_fn is not None:
            reward = as_array(self._reward_fn(StepType.LAST if ends else StepType.MID, action, observation))
        if reward.shape != self._outer_dims:
            raise Refused(f"the reward has shape {reward.shape}; expected {self._outer_dims}, that of the batch")
        if ends:
            self._steps = None
            return self._out(termination(observation, action, reward, env_id=self._env_id))
        return self._out(transition(observation, action, reward, discount=self._discount, env_id=self._env_id))

    def _observation(self) -> Nest:
        return nest.map_structure(self._draw, self.observation_spec())

    def _draw(self, spec: TensorSpec) -> Array:
        bounded = spec if isinstance(spec, BoundedTensorSpec) else BoundedTensorSpec(spec.shape, spec.dtype_str)
        return bounded.numpy_sample(self._outer_dims, self._rng)

    def _batched(self, action: Tensor) -> Array:
        array = as_array(action)
        # As in ALF, one action may be of all.
        return array if array.shape[:1] == self._outer_dims or not self.batched else np.stack([array] * self.batch_size)

    def _out(self, time_step: TimeStep) -> TimeStep:
        return time_step.to_tensors() if self.is_tensor_based else time_step
