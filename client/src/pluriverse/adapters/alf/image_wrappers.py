"""Wrappers of observations, single or batched: several frames at once, other sizes, grey."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np

from pluriverse.errors import ConfigurationError

from . import nest, tensors
from .alf_environment import AlfEnvironment
from .alf_wrappers import TransformWrapper
from .data_structures import TimeStep
from .tensor_specs import BoundedTensorSpec, TensorSpec
from .tensors import Array, Tensor

ChannelOrder = Literal["channels_first", "channels_last"]
Fields = Sequence[str]
"""Paths of the parts of an observation to change, such as ``"sensors.camera"``."""

# Larger ones are slips.
MAX_SIDE: Final = 16384
MAX_STACK: Final = 1024


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
    try:
        return importlib.import_module("cv2")
    except ImportError as error:
        raise ConfigurationError(
            f"pictures are resized and made grey with OpenCV, which isn't there ({error}); "
            "install it with: pip install 'pluriverse[alf]'"
        ) from error
