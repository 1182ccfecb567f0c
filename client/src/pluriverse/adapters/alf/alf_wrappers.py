"""Wrappers of ALF environments: what changes steps and actions. Pictures have their own in ``image_wrappers``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pluriverse.errors import ConfigurationError

from . import nest, tensors
from .alf_environment import AlfEnvironment
from .data_structures import GOES_ON, StepType, TimeStep
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action, zero_where
from .tensors import Array


class AlfEnvironmentBaseWrapper(AlfEnvironment):
    """Hands everything on to the environment within; wrappers override what they change."""

    def __init__(self, env: AlfEnvironment) -> None:
        super().__init__()
        self._env = env

    def __getattr__(self, name: str) -> Any:
        """Whatever else the environment within has; what is private stays its own."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._env, name)

    @property
    def num_tasks(self) -> int:
        """How many tasks there are to do in it."""
        return self._env.num_tasks

    @property
    def task_names(self) -> list[str]:
        """What they are called."""
        return self._env.task_names

    @property
    def is_tensor_based(self) -> bool:
        """Whether it takes and gives tensors."""
        return self._env.is_tensor_based

    @property
    def batched(self) -> bool:
        """Whether actions and steps have a batch dimension."""
        return self._env.batched

    @property
    def batch_size(self) -> int:
        """How many environments it is."""
        return self._env.batch_size

    @property
    def metadata(self) -> dict[str, Any]:
        """What else there is to know."""
        return self._env.metadata

    def env_info_spec(self) -> nest.Nest:
        """The specs of ``TimeStep.env_info``."""
        return self._env.env_info_spec()

    def observation_spec(self) -> nest.Nest:
        """The specs of observations."""
        return self._env.observation_spec()

    def action_spec(self) -> nest.Nest:
        """The specs of actions."""
        return self._env.action_spec()

    def reward_spec(self) -> TensorSpec:
        """The spec of rewards."""
        return self._env.reward_spec()

    def seed(self, seed: Any) -> None:
        """Seed what comes after the next ``reset``."""
        self._env.seed(seed)

    def render(self, mode: str = "rgb_array") -> Any:
        """Its picture."""
        return self._env.render(mode)

    def get_info(self) -> Any:
        """All that is known of the last step."""
        return self._env.get_info()

    def close(self) -> None:
        """Close the environment within."""
        self._env.close()

    def wrapped_env(self) -> AlfEnvironment:
        """The environment within."""
        return self._env

    def _reset(self) -> TimeStep:
        return self._env.reset()

    def _step(self, action: nest.Nest) -> TimeStep:
        return self._env.step(action)

    def _outer_dims(self) -> tuple[int, ...]:
        return (self.batch_size,) if self.batched else ()

    def _out(self, array: Array) -> Any:
        """What this environment gives in place of an array."""
        return tensors.chosen().tensor(array) if self.is_tensor_based else array

    def _require_single(self, instead: str) -> None:
        if self.batched:
            raise ConfigurationError(
                f"{type(self).__name__} wraps single environments, and this is a batch of {self.batch_size}: {instead}"
            )


class TimeLimit(AlfEnvironmentBaseWrapper):
    """Ends each episode after ``duration`` steps: the last is LAST, and its discount stays what it was."""

    def __init__(self, env: AlfEnvironment, duration: int) -> None:
        """``duration`` counts steps, the FIRST not among them.

        Raises:
            ConfigurationError: it is below 1, or the environment is batched.
        """
        super().__init__(env)
        self._require_single("wrap each of them, or say max_episode_steps where the batch is made")
        if duration < 1:
            raise ConfigurationError(f"the duration is {duration}; expected 1 step or more")
        self.duration = duration
        self._steps: int | None = None

    def _reset(self) -> TimeStep:
        self._steps = 0
        return self._env.reset()

    def _step(self, action: nest.Nest) -> TimeStep:
        if self._steps is None:
            return self.reset()
        time_step = self._env.step(action)
        self._steps += 1
        if self._steps >= self.duration:
            time_step = time_step._replace(step_type=self._out(np.asarray(StepType.LAST)))
        if time_step.is_last():
            self._steps = None
        return time_step


class NonEpisodicAgent(AlfEnvironmentBaseWrapper):
    """Gives outcomes the discount of limits, so that an agent values what comes after the end of an episode too."""

    def __init__(self, env: AlfEnvironment, discount: float = GOES_ON) -> None:
        """``discount``: of every LAST step, above 0 and at most 1.

        Raises:
            ConfigurationError: it is out of range.
        """
        super().__init__(env)
        if not 0 < discount <= 1:
            raise ConfigurationError(f"the discount is {discount!r}; expected above 0 and at most 1")
        self._discount = np.float32(discount)

    def _step(self, action: nest.Nest) -> TimeStep:
        time_step = self._env.step(action)
        array = tensors.as_array
        discount = np.where(array(time_step.is_last()), self._discount, array(time_step.discount))
        return time_step._replace(discount=self._out(discount))


class FrameSkip(AlfEnvironmentBaseWrapper):
    """Repeats each action, and adds up the rewards; an episode's end ends the repeating too."""

    def __init__(self, env: AlfEnvironment, skip: int) -> None:
        """``skip``: how many steps become one; 1 changes nothing.

        Raises:
            ConfigurationError: it is below 1, or the environment is batched.
        """
        super().__init__(env)
        self._require_single("wrap each of them, or say frame_skip where the batch is made")
        if skip < 1:
            raise ConfigurationError(f"skip is {skip}; expected 1 step or more")
        self._skip = skip

    def _step(self, action: nest.Nest) -> TimeStep:
        time_step = self._env.step(action)
        reward = time_step.reward
        for _ in range(self._skip - 1):
            if not time_step.is_mid():
                break
            time_step = self._env.step(action)
            reward = reward + time_step.reward
        return time_step._replace(reward=reward)


class RewardClipping(AlfEnvironmentBaseWrapper):
    """Clips rewards to ``minimum`` and ``maximum``; the agent learns from those, what was earned is in ``get_info``."""

    def __init__(self, env: AlfEnvironment, minimum: float = -1.0, maximum: float = 1.0) -> None:
        """Of all rewards, inclusive.

        Raises:
            ConfigurationError: the minimum is above the maximum.
        """
        super().__init__(env)
        before = env.reward_spec()
        self._reward_spec = BoundedTensorSpec(before.shape, before.dtype_str, minimum, maximum, before.name)

    def reward_spec(self) -> TensorSpec:
        """As within, with bounds."""
        return self._reward_spec

    def _step(self, action: nest.Nest) -> TimeStep:
        time_step = self._env.step(action)
        # Written to work alike on arrays and tensors.
        low, high = self._reward_spec.minimum.item(), self._reward_spec.maximum.item()
        return time_step._replace(reward=time_step.reward.clip(low, high))


class ContinuousActionClip(AlfEnvironmentBaseWrapper):
    """Clips continuous actions to their bounds, for policies that leave them; all others are as they were."""

    def _step(self, action: nest.Nest) -> TimeStep:
        def clip(spec: BoundedTensorSpec, value: Any) -> Any:
            return tensors.as_array(value).clip(spec.minimum, spec.maximum) if spec.is_continuous else value

        return self._env.step(nest.map_up_to(clip, self.action_spec(), action))


class NormalizedAction(AlfEnvironmentBaseWrapper):
    """Continuous actions of -1 to 1 in place of their own bounds, for algorithms to which the range matters."""

    def __init__(self, env: AlfEnvironment) -> None:
        """Discrete actions stay as they are.

        Raises:
            ConfigurationError: a continuous action has no finite bounds.
        """
        super().__init__(env)
        self._action_spec = nest.map_structure(self._normalized, env.action_spec())

    def action_spec(self) -> nest.Nest:
        """As within, with bounds of -1 and 1 where it is continuous."""
        return self._action_spec

    def _normalized(self, spec: TensorSpec) -> TensorSpec:
        if spec.is_discrete:
            return spec
        if not isinstance(spec, BoundedTensorSpec) or not np.isfinite([spec.minimum.min(), spec.maximum.max()]).all():
            raise ConfigurationError(f"actions of {spec} have no finite bounds; nothing stands for their -1 and 1")
        return BoundedTensorSpec(spec.shape, spec.dtype_str, -1, 1, spec.name)

    def _step(self, action: nest.Nest) -> TimeStep:
        checked = as_action(self._action_spec, action, self._outer_dims())
        inner = nest.map_structure(_denormalize, self._env.action_spec(), checked)
        time_step = self._env.step(nest.map_structure(self._out, inner))
        if self.batched:
            # Those that began an episode did nothing with it.
            first = tensors.as_array(time_step.is_first())
            checked = nest.map_structure(partial(zero_where, first), checked)
        elif time_step.is_first():
            checked = nest.map_structure(np.zeros_like, checked)
        return time_step._replace(prev_action=nest.map_structure(self._out, checked))


def _denormalize(spec: BoundedTensorSpec, value: Array) -> Array:
    if spec.is_discrete:
        return value
    share = (value.astype(np.float64) + 1) / 2
    wide = spec.minimum.astype(np.float64) * (1 - share) + spec.maximum.astype(np.float64) * share
    # Rounding may leave the bounds by a hair.
    return wide.astype(spec.dtype_str).clip(spec.minimum, spec.maximum)


class TensorWrapper(AlfEnvironmentBaseWrapper):
    """Tensors for a batched environment that was written for arrays."""

    def __init__(self, env: AlfEnvironment) -> None:
        """A batched one.

        Raises:
            ConfigurationError: it isn't.
        """
        super().__init__(env)
        if not env.batched:
            raise ConfigurationError("TensorWrapper wraps batched environments; ThreadEnvironment makes a batch of one")

    @property
    def is_tensor_based(self) -> bool:
        """It is."""
        return True

    def _reset(self) -> TimeStep:
        return self._env.reset().to_tensors()

    def _step(self, action: nest.Nest) -> TimeStep:
        return self._env.step(nest.map_structure(tensors.as_array, action)).to_tensors()
