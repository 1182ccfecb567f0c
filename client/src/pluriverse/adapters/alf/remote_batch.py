"""The observations and actions of remotes as the arrays and specs of a batch."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence

import numpy as np

from pluriverse.adapters.actions import BUTTONS, ActionMap
from pluriverse.adapters.core import Core
from pluriverse.adapters.observations import Observations
from pluriverse.adapters.player import StepResult
from pluriverse.errors import ConfigurationError

from .nest import Nest
from .tensor_specs import BoundedTensorSpec, TensorSpec
from .tensors import Array
from .texts import encode, text_spec


class Batch:
    """Makes the observations of a batch, in arrays that are new each time: they become the agent's tensors."""

    def __init__(self, core: Core, channel_first: bool) -> None:
        self._observations = Observations(core.spaces, core.pictures)
        height, width, channels = core.pictures.shape
        shape = (channels, height, width) if channel_first else (height, width, channels)
        self._copy = _channel_copier() if channel_first and channels > 1 else _copy
        self._vision = BoundedTensorSpec(shape, "uint8", 0, 255, "vision")
        self._parts: dict[str, TensorSpec] = {"vision": self._vision}
        if "text" in self._observations.names:
            self._parts["text"] = text_spec()
        if self._observations.state_shape is not None:
            self._parts["observation"] = TensorSpec(self._observations.state_shape, "float32", "observation")
        self._is_picture = len(self._parts) == 1
        self.spec: Nest = self._vision if self._is_picture else self._parts

    def observations(self, turns: Sequence[StepResult]) -> Nest:
        """Return the observation of the given turns, as ``spec`` says behind the batch dimension."""
        vision = np.empty((len(turns), *self._vision.shape), np.uint8)
        made = [self._observations.make(turn) for turn in turns]
        for index, each in enumerate(made):
            self._copy(each if self._is_picture else each["vision"], vision[index])
        if self._is_picture:
            return vision
        batch: dict[str, Array] = {"vision": vision}
        if "text" in self._parts:
            batch["text"] = np.stack([encode(each["text"]) for each in made])
        if "observation" in self._parts:
            batch["observation"] = np.stack([each["observation"] for each in made]).astype(np.float32)
        return batch


def action_spec(actions: ActionMap) -> Nest:
    """Return the specs of the actions that a remote takes.

    Raises:
        ConfigurationError: they are lists of events, which no tensor holds.
    """
    if actions.kind == "discrete":
        return BoundedTensorSpec((), "int64", 0, actions.n - 1, "action")
    keys = BoundedTensorSpec((len(actions.keys),), "int64", 0, 1, "keys")
    if actions.kind == "keys":
        return keys
    if actions.kind == "pointer":
        _, _, width, height = actions.box
        parts = {
            "pointer": BoundedTensorSpec((2,), "int64", 0, (width - 1, height - 1), "pointer"),
            "buttons": BoundedTensorSpec((BUTTONS,), "int64", 0, 1, "buttons"),
        }
        return {**parts, "keys": keys} if actions.keys else parts
    raise ConfigurationError("no tensor holds a list of events; expected actions of discrete, keys or pointer")


def _copy(picture: Array, to: Array) -> None:
    to[...] = picture.reshape(to.shape)


def _copy_channels(picture: Array, to: Array) -> None:
    to[...] = picture.transpose(2, 0, 1)


def _channel_copier() -> Callable[[Array, Array], None]:
    """OpenCV takes half the time, where it is installed."""
    if importlib.util.find_spec("cv2") is None:
        return _copy_channels
    split = importlib.import_module("cv2").split
    return lambda picture, to: split(picture, list(to))
