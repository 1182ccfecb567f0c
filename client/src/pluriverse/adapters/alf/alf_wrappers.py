"""Wrappers of environments: what changes actions, steps, and pictures."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from pluriverse.errors import ConfigurationError, needed

from . import nest, tensors
from .alf_environment import AlfEnvironment, DescribedEnvironment, Description
from .data_structures import GOES_ON, StepType, TimeStep, check_discount
from .nest import Nest
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action, zero_where
from .tensors import Array, Tensor

ChannelOrder = Literal["channels_first", "channels_last"]
Fields = Sequence[str]
"""Paths of the parts of an observation to change, such as ``"sensors.camera"``."""

# Larger ones are slips.
MAX_SIDE: Final = 16384
MAX_STACK: Final = 1024


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
    """End each episode ``duration`` steps after its FIRST with a LAST step, whose discount stays what it was."""

    def __init__(self, env: AlfEnvironment, duration: int) -> None:
        """Raise ``ConfigurationError`` if ``duration`` is below 1, or the environment is batched."""
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
        """``discount``: of every LAST step, above 0 and at most 1, else ``ConfigurationError``."""
        last = np.float32(check_discount(discount))

        def keep_going(time_step: TimeStep) -> TimeStep:
            is_last, discounts = tensors.as_array(time_step.is_last()), tensors.as_array(time_step.discount)
            return time_step._replace(discount=self._out(np.where(is_last, last, discounts)))

        super().__init__(env, step=keep_going)


class FrameSkip(AlfEnvironmentBaseWrapper):
    """Repeat each action for ``skip`` steps, or until the episode ends, and add up the rewards."""

    def __init__(self, env: AlfEnvironment, skip: int) -> None:
        """Raise ``ConfigurationError`` if ``skip`` is below 1, or the environment is batched."""
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


class ObservationWrapper(TransformWrapper):
    """Transform some fields of observations, each by the same functions."""

    def __init__(
        self,
        env: AlfEnvironment,
        fields: Fields | None,
        spec: Callable[[TensorSpec], TensorSpec],
        field: Callable[[Array, Array, str | None], Array],
    ) -> None:
        """Set the transforms.

        Args:
            env: single or batched.
            fields: paths; None: the observation itself, which is one array.
            spec: returns the spec of a changed field.
            field: called with a batch of the field, ``first`` (bool, (batch,): which begin an episode) and its path.

        Raises:
            ConfigurationError: a field isn't what the wrapper changes.
            Misuse: there is no such field.
        """
        paths: tuple[str | None, ...] = (None,) if fields is None else tuple(fields)

        def change_spec(part: object) -> TensorSpec:
            if isinstance(part, TensorSpec):
                return spec(part)
            raise ConfigurationError(f"the observation is {part!r:.120}; say with fields=[…] which part of it is meant")

        def change_step(time_step: TimeStep) -> TimeStep:
            first = np.atleast_1d(tensors.as_array(time_step.is_first()))
            observation = time_step.observation
            for path in paths:

                def change(part: Tensor, path: str | None = path) -> Tensor:
                    array = tensors.as_array(part)
                    return self._out(
                        field(array, first, path) if self.batched else field(array[np.newaxis], first, path)[0]
                    )

                observation = nest.map_field(change, observation, path)
            return time_step._replace(observation=observation)

        changed = env.observation_spec()
        for path in paths:
            changed = nest.map_field(change_spec, changed, path)
        super().__init__(env, step=change_step, observation_spec=changed)


class FrameStack(ObservationWrapper):
    """Join the last ``stack_size`` frames, the newest last; an episode begins with that many of its first."""

    def __init__(
        self,
        env: AlfEnvironment,
        stack_size: int = 4,
        channel_order: ChannelOrder = "channels_first",
        fields: Fields | None = None,
    ) -> None:
        """Join frames along their first dimension, or the last where channels are last."""
        if not 1 <= stack_size <= MAX_STACK:
            raise ConfigurationError(f"stack_size is {stack_size}; expected 1 to {MAX_STACK}")
        self._size = stack_size
        self._axis = 0 if _is_channel_first(channel_order) else -1
        self._stacks: dict[str | None, Array] = {}
        super().__init__(env, fields, self._stacked_spec, self._stacked)

    def _stacked_spec(self, spec: TensorSpec) -> TensorSpec:
        if spec.ndim < 1:
            raise ConfigurationError(f"{spec} can't be stacked; expected one dimension or more")
        shape = list(spec.shape)
        shape[self._axis] *= self._size
        if not isinstance(spec, BoundedTensorSpec):
            return TensorSpec(shape, spec.dtype_str, spec.name)
        low, high = (
            np.concatenate([np.broadcast_to(bound, spec.shape)] * self._size, self._axis) if bound.ndim else bound
            for bound in (spec.minimum, spec.maximum)
        )
        return BoundedTensorSpec(shape, spec.dtype_str, low, high, spec.name)

    def _stacked(self, batch: Array, first: Array, path: str | None) -> Array:
        axis = self._axis or 1
        stacked = np.concatenate([batch] * self._size, axis)
        before = self._stacks.get(path)
        if before is not None and not first.all():
            oldest = batch.shape[axis]
            kept = before[:, oldest:] if axis == 1 else before[..., oldest:]
            stacked[~first] = np.concatenate([kept, batch], axis)[~first]
        self._stacks[path] = stacked
        # The next frames are joined to what is kept here, whatever the agent does with its own.
        return stacked.copy()


class _PictureWrapper(ObservationWrapper):
    """Transform pictures, uint8 of three dimensions, one by one with a function of OpenCV's."""

    def __init__(
        self,
        env: AlfEnvironment,
        fields: Fields | None,
        channel_order: ChannelOrder,
        shape: Callable[[TensorSpec, tuple[int, int, int]], tuple[int, int, int]],
        picture: Callable[[Array], Array],
    ) -> None:
        """``shape``: the new (height, width, channels) of a spec and its own; ``picture``: has its channels last."""
        channel_first = _is_channel_first(channel_order)

        def spec(before: TensorSpec) -> TensorSpec:
            if before.ndim != 3 or before.dtype_str != "uint8":
                raise ConfigurationError(f"{before} isn't of pictures; expected uint8 of three dimensions")
            one, two, three = before.shape
            height, width, channels = shape(before, (two, three, one) if channel_first else (one, two, three))
            new = (channels, height, width) if channel_first else (height, width, channels)
            return BoundedTensorSpec(new, "uint8", 0, 255, before.name)

        def change(batch: Array, _first: Array, _path: str | None) -> Array:
            changed: list[Array] = []
            for each in np.moveaxis(batch, 1, -1) if channel_first else batch:
                new = picture(np.ascontiguousarray(each))
                changed.append(new if new.ndim == 3 else new[..., np.newaxis])
            stacked = np.stack(changed)
            return np.ascontiguousarray(np.moveaxis(stacked, -1, 1) if channel_first else stacked)

        super().__init__(env, fields, spec, change)


class FrameResize(_PictureWrapper):
    """Resize pictures, averaging over areas."""

    def __init__(
        self,
        env: AlfEnvironment,
        width: int = 84,
        height: int = 84,
        fields: Fields | None = None,
        channel_order: ChannelOrder = "channels_first",
    ) -> None:
        """``width`` and ``height`` are pixels."""
        if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
            raise ConfigurationError(f"the size is {width} by {height}; expected 1 to {MAX_SIDE} pixels each way")
        cv2 = _opencv()
        super().__init__(
            env,
            fields,
            channel_order,
            lambda _spec, shape: (height, width, shape[2]),
            lambda picture: cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA),
        )


class FrameGrayScale(_PictureWrapper):
    """Make RGB pictures grey, of one channel: the luma of ITU-R BT.601."""

    def __init__(
        self,
        env: AlfEnvironment,
        fields: Fields | None = None,
        channel_order: ChannelOrder = "channels_first",
    ) -> None:
        """Raise ``ConfigurationError`` if a picture hasn't three channels."""
        cv2 = _opencv()

        def shape(spec: TensorSpec, before: tuple[int, int, int]) -> tuple[int, int, int]:
            if before[2] != 3:
                raise ConfigurationError(f"{spec} isn't of colour pictures; expected three channels")
            return (*before[:2], 1)

        super().__init__(env, fields, channel_order, shape, lambda picture: cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY))


def _is_channel_first(order: ChannelOrder) -> bool:
    if order not in ("channels_first", "channels_last"):
        raise ConfigurationError(f"channel_order is {order!r}; expected channels_first or channels_last")
    return order == "channels_first"


def _opencv() -> Any:
    with needed("OpenCV, which makes pictures smaller and grey,", extra="alf"):
        return importlib.import_module("cv2")
