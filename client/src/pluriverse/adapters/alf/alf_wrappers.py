"""Wrappers of ALF environments. Those that change pictures are in ``image_wrappers``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pluriverse.errors import ConfigurationError

from . import nest, tensors
from .alf_environment import AlfEnvironment, DescribedEnvironment, Description
from .data_structures import GOES_ON, StepType, TimeStep, check_discount
from .nest import Nest
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action, zero_where
from .tensors import Array, Tensor


class AlfEnvironmentBaseWrapper(DescribedEnvironment):
    """Pass everything on to the environment within; wrappers override what they change."""

    def __init__(self, env: AlfEnvironment, **changes: Any) -> None:
        """``changes``: specs and properties of the wrapper that differ, the fields of ``Description``."""
        super().__init__(dataclasses.replace(Description.of(env), **changes))
        self._env = env

    def __getattr__(self, name: str) -> Any:
        """Return a public attribute of the environment within."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._env, name)

    def seed(self, seed: Any) -> None:
        """Seed the episodes that the next ``reset`` begins."""
        self._env.seed(seed)

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the picture, or show it."""
        return self._env.render(mode)

    def get_info(self) -> Any:
        """Return all that is known of the last step."""
        return self._env.get_info()

    def close(self) -> None:
        """Close the environment within."""
        self._env.close()

    def wrapped_env(self) -> AlfEnvironment:
        """Return the environment within."""
        return self._env

    def _reset(self) -> TimeStep:
        return self._env.reset()

    def _step(self, action: Nest) -> TimeStep:
        return self._env.step(action)

    def _out(self, array: Array) -> Tensor:
        """Return an array as this environment gives it."""
        return tensors.chosen().tensor(array) if self.is_tensor_based else array

    def _require_single(self, instead: str) -> None:
        if self.batched:
            raise ConfigurationError(
                f"{type(self).__name__} wraps single environments, and this is a batch of {self.batch_size}: {instead}"
            )


class TransformWrapper(AlfEnvironmentBaseWrapper):
    """Transform actions before the environment acts, and steps after."""

    def __init__(
        self,
        env: AlfEnvironment,
        *,
        action: Callable[[Nest], Nest] | None = None,
        step: Callable[[TimeStep], TimeStep] | None = None,
        **changes: Any,
    ) -> None:
        """Set the transforms; None changes nothing.

        Args:
            env: single or batched.
            action: called with the agent's action; returns that of the environment within.
            step: called with each step of the environment within; returns the agent's.
            changes: specs that differ, such as ``observation_spec``.
        """
        super().__init__(env, **changes)
        self._transform_action = action
        self._transform_step = step

    def _reset(self) -> TimeStep:
        return self._transformed(self._env.reset())

    def _step(self, action: Nest) -> TimeStep:
        return self._transformed(self._env.step(self._transform_action(action) if self._transform_action else action))

    def _transformed(self, time_step: TimeStep) -> TimeStep:
        return self._transform_step(time_step) if self._transform_step else time_step


class TimeLimit(AlfEnvironmentBaseWrapper):
    """End each episode after ``duration`` steps with a LAST step, whose discount stays what it was."""

    def __init__(self, env: AlfEnvironment, duration: int) -> None:
        """``duration`` counts steps after FIRST.

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

    def _step(self, action: Nest) -> TimeStep:
        if self._steps is None:
            return self.reset()
        time_step = self._env.step(action)
        self._steps += 1
        if self._steps >= self.duration:
            time_step = time_step._replace(step_type=self._out(np.asarray(StepType.LAST)))
        if time_step.is_last():
            self._steps = None
        return time_step


class NonEpisodicAgent(TransformWrapper):
    """Give outcomes the discount of limits, so that an agent values what comes after the end of an episode too."""

    def __init__(self, env: AlfEnvironment, discount: float = GOES_ON) -> None:
        """``discount``: of every LAST step, above 0 and at most 1.

        Raises:
            ConfigurationError: it is out of range.
        """
        last = np.float32(check_discount(discount))

        def keep_going(time_step: TimeStep) -> TimeStep:
            is_last, discounts = tensors.as_array(time_step.is_last()), tensors.as_array(time_step.discount)
            return time_step._replace(discount=self._out(np.where(is_last, last, discounts)))

        super().__init__(env, step=keep_going)


class FrameSkip(AlfEnvironmentBaseWrapper):
    """Repeat each action for ``skip`` steps, or until the episode ends, and add up the rewards."""

    def __init__(self, env: AlfEnvironment, skip: int) -> None:
        """``skip``: 1 changes nothing.

        Raises:
            ConfigurationError: it is below 1, or the environment is batched.
        """
        super().__init__(env)
        self._require_single("wrap each of them, or say frame_skip where the batch is made")
        if skip < 1:
            raise ConfigurationError(f"skip is {skip}; expected 1 step or more")
        self._skip = skip

    def _step(self, action: Nest) -> TimeStep:
        time_step = self._env.step(action)
        reward = time_step.reward
        for _ in range(self._skip - 1):
            if not time_step.is_mid():
                break
            time_step = self._env.step(action)
            reward = reward + time_step.reward
        return time_step._replace(reward=reward)


class RewardClipping(TransformWrapper):
    """Clip rewards to ``minimum`` and ``maximum``, inclusive."""

    def __init__(self, env: AlfEnvironment, minimum: float = -1.0, maximum: float = 1.0) -> None:
        """Raise ``ConfigurationError`` if the minimum is above the maximum."""
        before = env.reward_spec()
        spec = BoundedTensorSpec(before.shape, before.dtype_str, minimum, maximum, before.name)
        # Arrays and tensors both have clip, with numbers of Python.
        low, high = spec.minimum.item(), spec.maximum.item()
        super().__init__(env, step=lambda step: step._replace(reward=step.reward.clip(low, high)), reward_spec=spec)


class ContinuousActionClip(TransformWrapper):
    """Clip continuous actions to their bounds, for policies that leave them; others stay as they are."""

    def __init__(self, env: AlfEnvironment) -> None:
        super().__init__(env, action=partial(nest.map_up_to, _clip, env.action_spec()))


def _clip(spec: BoundedTensorSpec, value: Any) -> Any:
    return tensors.as_array(value).clip(spec.minimum, spec.maximum) if spec.is_continuous else value


class NormalizedAction(AlfEnvironmentBaseWrapper):
    """Take continuous actions of -1 to 1 in place of their own bounds; discrete ones stay as they are."""

    def __init__(self, env: AlfEnvironment) -> None:
        """Raise ``ConfigurationError`` if a continuous action has no finite bounds."""
        super().__init__(env, action_spec=nest.map_structure(_normalized, env.action_spec()))

    def _step(self, action: Nest) -> TimeStep:
        checked = as_action(self.action_spec(), action, (self.batch_size,) if self.batched else ())
        inner = nest.map_structure(_denormalize, self._env.action_spec(), checked)
        time_step = self._env.step(nest.map_structure(self._out, inner))
        previous = zero_where(time_step.is_first(), checked)
        return time_step._replace(prev_action=nest.map_structure(self._out, previous))


def _normalized(spec: TensorSpec) -> TensorSpec:
    if spec.is_discrete:
        return spec
    if not isinstance(spec, BoundedTensorSpec) or not np.isfinite([spec.minimum.min(), spec.maximum.max()]).all():
        raise ConfigurationError(f"actions of {spec} have no finite bounds; nothing stands for their -1 and 1")
    return BoundedTensorSpec(spec.shape, spec.dtype_str, -1, 1, spec.name)


def _denormalize(spec: BoundedTensorSpec, value: Array) -> Array:
    if spec.is_discrete:
        return value
    share = (value.astype(np.float64) + 1) / 2
    wide = spec.minimum.astype(np.float64) * (1 - share) + spec.maximum.astype(np.float64) * share
    # Rounding may leave the bounds by a hair.
    return wide.astype(spec.dtype_str).clip(spec.minimum, spec.maximum)


class TensorWrapper(TransformWrapper):
    """Give tensors to the agent of a batched environment that was written for arrays."""

    def __init__(self, env: AlfEnvironment) -> None:
        """Raise ``ConfigurationError`` if the environment isn't batched."""
        if not env.batched:
            raise ConfigurationError("TensorWrapper wraps batched environments; ThreadEnvironment makes a batch of one")
        to_arrays = partial(nest.map_structure, tensors.as_array)
        super().__init__(env, action=to_arrays, step=TimeStep.to_tensors, is_tensor_based=True)
