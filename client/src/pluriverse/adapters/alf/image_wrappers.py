"""Wrappers of what an environment shows: several frames at once, other sizes, grey. For single ones and batches."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np

from pluriverse.errors import ConfigurationError

from . import nest, tensors
from .alf_environment import AlfEnvironment
from .alf_wrappers import AlfEnvironmentBaseWrapper
from .data_structures import TimeStep
from .tensor_specs import BoundedTensorSpec, TensorSpec
from .tensors import Array

ChannelOrder = Literal["channels_first", "channels_last"]

# Nobody's policy looks at more; it is a slip.
MAX_SIDE: Final = 16384
MAX_STACK: Final = 1024


class ObservationWrapper(AlfEnvironmentBaseWrapper):
    """Changes some fields of observations; wrappers override ``change_spec`` and ``change``."""

    def __init__(self, env: AlfEnvironment, fields: Sequence[str] | None = None) -> None:
        """``fields``: paths such as ``"sensors.camera"``; None: the observation is one array, and changes itself.

        Raises:
            ConfigurationError: a field isn't what the wrapper changes.
            Misuse: there is no such field.
        """
        super().__init__(env)
        self._fields: tuple[str | None, ...] = (None,) if fields is None else tuple(fields)
        spec = env.observation_spec()
        for field in self._fields:
            spec = nest.map_field(lambda part: self.change_spec(self._leaf(part)), spec, field)
        self._observation_spec = spec

    def observation_spec(self) -> nest.Nest:
        """As changed."""
        return self._observation_spec

    def change_spec(self, spec: TensorSpec) -> TensorSpec:
        """The spec of a changed field.

        Raises:
            ConfigurationError: it isn't one that can be changed.
        """
        raise NotImplementedError

    def change(self, array: Array, first: Array, field: str | None) -> Array:
        """A changed field of a batch; ``first`` says which of it begin an episode."""
        raise NotImplementedError

    def _leaf(self, part: Any) -> TensorSpec:
        if isinstance(part, TensorSpec):
            return part
        raise ConfigurationError(f"the observation is {part!r:.120}; say with fields=[…] which part of it is meant")

    def _reset(self) -> TimeStep:
        return self._changed(self._env.reset())

    def _step(self, action: nest.Nest) -> TimeStep:
        return self._changed(self._env.step(action))

    def _changed(self, time_step: TimeStep) -> TimeStep:
        to_array = tensors.as_array
        first = np.atleast_1d(to_array(time_step.is_first()))

        def changer(field: str | None) -> Callable[[Any], Any]:
            def change(part: Any) -> Any:
                array = to_array(part)
                changed = self.change(array if self.batched else array[np.newaxis], first, field)
                return self._out(changed if self.batched else changed[0])

            return change

        observation = time_step.observation
        for field in self._fields:
            observation = nest.map_field(changer(field), observation, field)
        return time_step._replace(observation=observation)


class FrameStack(ObservationWrapper):
    """The last ``stack_size`` frames as one, the newest last; an episode begins with that many of its first."""

    def __init__(
        self,
        env: AlfEnvironment,
        stack_size: int = 4,
        channel_order: ChannelOrder = "channels_first",
        fields: Sequence[str] | None = None,
    ) -> None:
        """Frames are joined along the first dimension, or the last where channels are last."""
        if not 1 <= stack_size <= MAX_STACK:
            raise ConfigurationError(f"stack_size is {stack_size}; expected 1 to {MAX_STACK}")
        self._size = stack_size
        self._axis = 1 if _is_channel_first(channel_order) else -1
        self._stacks: dict[str | None, Array] = {}
        super().__init__(env, fields)

    def change_spec(self, spec: TensorSpec) -> TensorSpec:
        """As many times as large in one dimension."""
        if spec.ndim < 1:
            raise ConfigurationError(f"{spec} can't be stacked; expected one dimension or more")
        axis = self._axis - 1 if self._axis > 0 else self._axis
        shape = list(spec.shape)
        shape[axis] *= self._size
        if not isinstance(spec, BoundedTensorSpec):
            return TensorSpec(shape, spec.dtype_str, spec.name)
        low, high = (
            bound if not bound.ndim else np.repeat(np.broadcast_to(bound, spec.shape)[np.newaxis], self._size, 0)
            for bound in (spec.minimum, spec.maximum)
        )
        low, high = (bound if not bound.ndim else np.concatenate(list(bound), axis) for bound in (low, high))
        return BoundedTensorSpec(shape, spec.dtype_str, low, high, spec.name)

    def change(self, array: Array, first: Array, field: str | None) -> Array:
        """A new array, with what came before in front."""
        stacked = np.concatenate([array] * self._size, self._axis)
        before = self._stacks.get(field)
        if before is not None and not first.all():
            oldest = array.shape[self._axis]
            kept = before[:, oldest:] if self._axis == 1 else before[..., oldest:]
            stacked[~first] = np.concatenate([kept, array], self._axis)[~first]
        self._stacks[field] = stacked
        # The next frames are joined to what is kept here, whatever the agent does with its own.
        return stacked.copy()


class FrameResize(ObservationWrapper):
    """Pictures of another size, averaged over areas."""

    def __init__(
        self,
        env: AlfEnvironment,
        width: int = 84,
        height: int = 84,
        fields: Sequence[str] | None = None,
        channel_order: ChannelOrder = "channels_first",
    ) -> None:
        """In pixels."""
        if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
            raise ConfigurationError(f"the size is {width} by {height}; expected 1 to {MAX_SIDE} pixels each way")
        self._cv2 = _opencv()
        self._size = (width, height)
        self._channel_first = _is_channel_first(channel_order)
        super().__init__(env, fields)

    def change_spec(self, spec: TensorSpec) -> TensorSpec:
        """Pictures of that size."""
        width, height = self._size
        channels = _channels(spec, self._channel_first)
        return _picture_spec(spec, height, width, channels, self._channel_first)

    def change(self, array: Array, first: Array, field: str | None) -> Array:
        """New pictures."""
        return _each_picture(array, self._channel_first, self._resized)

    def _resized(self, picture: Array) -> Array:
        return self._cv2.resize(picture, self._size, interpolation=self._cv2.INTER_AREA)


class FrameGrayScale(ObservationWrapper):
    """Pictures of one channel: the luma of ITU-R BT.601."""

    def __init__(
        self,
        env: AlfEnvironment,
        fields: Sequence[str] | None = None,
        channel_order: ChannelOrder = "channels_first",
    ) -> None:
        """Of pictures of three channels: red, green, blue."""
        self._cv2 = _opencv()
        self._channel_first = _is_channel_first(channel_order)
        super().__init__(env, fields)

    def change_spec(self, spec: TensorSpec) -> TensorSpec:
        """Pictures of one channel."""
        if _channels(spec, self._channel_first) != 3:
            raise ConfigurationError(f"{spec} isn't of colour pictures; expected three channels")
        height, width = spec.shape[1:] if self._channel_first else spec.shape[:2]
        return _picture_spec(spec, height, width, 1, self._channel_first)

    def change(self, array: Array, first: Array, field: str | None) -> Array:
        """New pictures."""
        return _each_picture(array, self._channel_first, self._grey)

    def _grey(self, picture: Array) -> Array:
        return self._cv2.cvtColor(picture, self._cv2.COLOR_RGB2GRAY)


def _is_channel_first(order: ChannelOrder) -> bool:
    if order not in ("channels_first", "channels_last"):
        raise ConfigurationError(f"channel_order is {order!r}; expected channels_first or channels_last")
    return order == "channels_first"


def _channels(spec: TensorSpec, channel_first: bool) -> int:
    if spec.ndim != 3 or spec.dtype_str != "uint8":
        raise ConfigurationError(f"{spec} isn't of pictures; expected uint8 of three dimensions")
    return spec.shape[0] if channel_first else spec.shape[2]


def _picture_spec(spec: TensorSpec, height: int, width: int, channels: int, channel_first: bool) -> BoundedTensorSpec:
    shape = (channels, height, width) if channel_first else (height, width, channels)
    return BoundedTensorSpec(shape, "uint8", 0, 255, spec.name)


def _each_picture(batch: Array, channel_first: bool, change: Callable[[Array], Array]) -> Array:
    """Change pictures one by one, each with its channels last, as OpenCV has them."""
    changed: list[Array] = []
    for picture in batch:
        new = change(np.ascontiguousarray(np.moveaxis(picture, 0, -1) if channel_first else picture))
        new = new if new.ndim == 3 else new[..., np.newaxis]
        changed.append(np.moveaxis(new, -1, 0) if channel_first else new)
    return np.ascontiguousarray(np.stack(changed))


def _opencv() -> Any:
    try:
        return importlib.import_module("cv2")
    except ImportError as error:
        raise ConfigurationError(
            f"pictures are resized and made grey with OpenCV, which isn't there ({error}); "
            "install it with: pip install 'pluriverse[alf]'"
        ) from error
