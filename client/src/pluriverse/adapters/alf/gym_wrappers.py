"""Wrappers of Gymnasium's environments: pictures, stacks, and actions. Import it where Gymnasium is wanted."""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from pluriverse import validation
from pluriverse.errors import needed

from . import nest
from .alf_wrappers import ChannelOrder, Fields, channel_axis
from .nest import Nest
from .tensors import Array, Refused

with needed("Gymnasium", extra="alf"):
    import gymnasium
with needed("OpenCV, which makes pictures smaller and grey,", extra="alf"):
    _cv2: Any = importlib.import_module("cv2")

spaces: Any = gymnasium.spaces  # its types are unknown in part
Env = gymnasium.Env[Any, Any]
Space = gymnasium.Space[Any]


def _nested(space: Any) -> Nest:
    """Return the nest of the spaces within a space."""
    if isinstance(space, spaces.Dict):
        return {name: _nested(part) for name, part in space.spaces.items()}
    return tuple(map(_nested, space.spaces)) if isinstance(space, spaces.Tuple) else space


def _space(nested: Nest) -> Space:
    """Return the space of a nest of spaces."""
    if isinstance(nested, gymnasium.Space):
        return cast("Space", nested)
    if nest.is_unnamedtuple(nested):
        return spaces.Tuple([_space(part) for part in nested])
    return spaces.Dict({name: _space(nested[name]) for name in nested})


def transform_space(observation_space: Space, field: str | None, func: Callable[[Any], Space]) -> Space:
    """Return the space with the one at a path, such as ``"sensors.camera"``, replaced by ``func`` of it."""
    return _space(nest.transform_nest(_nested(observation_space), field, lambda part: func(_space(part))))


class BaseObservationWrapper(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Change some fields of observations, each by the same methods, which wrappers write."""

    def __init__(self, env: Env, fields: Fields = None) -> None:
        super().__init__(env)
        self._fields: list[str | None] = [None] if fields is None else list(fields)
        self._field: str | None = None
        self._begin()
        self.observation_space = env.observation_space
        for field in self._fields:
            self.observation_space = transform_space(self.observation_space, field, self.transform_space)

    def reset(self, **options: Any) -> Any:
        """Begin an episode."""
        self._begin()
        return super().reset(**options)

    def observation(self, observation: Nest) -> Nest:
        """Return the changed observation."""
        for field in self._fields:
            self._field = field
            observation = nest.transform_nest(observation, field, self.transform_observation)
        return observation

    def transform_space(self, observation_space: Any) -> Space:
        """Return the space of a changed field."""
        raise NotImplementedError

    def transform_observation(self, observation: Any) -> Any:
        """Return a changed field."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Forget the last episode."""


class ImageChannelFirst(BaseObservationWrapper):
    """Make pictures, which are all arrays of three dimensions, (channels, height, width)."""

    def transform_space(self, observation_space: Any) -> Space:
        """Return the space with the channels first."""

        def moved(space: Any) -> Space:
            boxed = isinstance(space, spaces.Box)
            return spaces.Box(_moved(space.low), _moved(space.high), dtype=space.dtype.type) if boxed else space

        return _space(nest.map_structure(moved, _nested(observation_space)))

    def transform_observation(self, observation: Any) -> Any:
        """Return the field with the channels first."""
        return nest.map_structure(_moved, observation)


def _moved(array: Any) -> Any:
    # Contiguous, since transposed ones are slow later.
    return np.moveaxis(array, -1, 0).copy() if getattr(array, "ndim", 0) == 3 else array


class FrameStack(BaseObservationWrapper):
    """Join the last ``stack_size`` frames, the newest last; an episode begins with that many of its first."""

    def __init__(
        self, env: Env, stack_size: int = 4, channel_order: ChannelOrder = "channels_last", fields: Fields = None
    ) -> None:
        self._size, self._axis = validation.integer("stack_size", stack_size, 1), channel_axis(channel_order)
        super().__init__(env, fields)

    def _begin(self) -> None:
        self._frames: dict[str | None, deque[Array]] = {}

    def transform_space(self, observation_space: Any) -> Space:
        """Return the space of joined frames."""
        match observation_space:
            case spaces.MultiDiscrete():
                return spaces.MultiDiscrete(self._joined([observation_space.nvec] * self._size))
            case spaces.Box():
                bounds = (self._joined([each] * self._size) for each in (observation_space.low, observation_space.high))
                return spaces.Box(*bounds, dtype=observation_space.dtype.type)
            case _:
                raise Refused(f"{observation_space} can't be stacked; expected Box or MultiDiscrete")

    def transform_observation(self, observation: Any) -> Any:
        """Return the joined frames."""
        frames = self._frames.setdefault(self._field, deque([observation] * self._size, self._size))
        frames.append(observation)
        return self._joined(frames)

    def _joined(self, frames: Any) -> Array:
        return np.concatenate(frames, self._axis)


class FrameSkip(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Repeat each action for ``skip`` steps, or until the episode ends, and add up the rewards.

    ``info["num_env_frames"]`` is the number of the steps, also of a wrapper of this kind within.
    """

    def __init__(self, env: Env, skip: int) -> None:
        super().__init__(env)
        self._skip = validation.integer("skip", skip, 1)

    def step(self, action: Any) -> Any:
        """Repeat an action."""
        return _repeated(self.env, action, self._skip, lambda _observation: False)


class _PictureWrapper(BaseObservationWrapper):
    """Change pictures by a function, which is given them with their channels last."""

    def __init__(
        self, env: Env, change: Callable[[Array], Array], fields: Fields = None, order: ChannelOrder = "channels_last"
    ) -> None:
        self._change, self._axis = change, channel_axis(order)
        super().__init__(env, fields)

    def transform_space(self, observation_space: Any) -> Space:
        if not isinstance(observation_space, spaces.Box) or len(observation_space.shape) != 3:
            raise Refused(f"{observation_space} isn't of pictures; expected a Box of three dimensions")
        shape = self.transform_observation(np.zeros(observation_space.shape, observation_space.dtype)).shape
        low, high = observation_space.low.min(), observation_space.high.max()
        return spaces.Box(low, high, shape, observation_space.dtype.type)

    def transform_observation(self, observation: Any) -> Any:
        picture = np.ascontiguousarray(np.moveaxis(observation, self._axis, -1))
        return np.moveaxis(_with_channels(self._change(picture)), -1, self._axis)


class FrameResize(_PictureWrapper):
    """Resize pictures; ``interpolation`` is OpenCV's."""

    def __init__(
        self, env: Env, width: int = 84, height: int = 84, fields: Fields = None, interpolation: int = _cv2.INTER_AREA
    ) -> None:
        size = validation.integers("size", (width, height), ("width", "height"), 1, validation.MAX_SIDE)
        super().__init__(env, lambda picture: _cv2.resize(picture, size, interpolation=interpolation), fields)


class FrameGrayScale(_PictureWrapper):
    """Make RGB pictures grey, of one channel: the luma of ITU-R BT.601."""

    def __init__(self, env: Env, fields: Fields = None) -> None:
        super().__init__(env, _grey, fields)


def _grey(picture: Array) -> Array:
    if picture.shape[2] != 3:
        raise Refused(f"pictures of {picture.shape} have no colours; expected three channels")
    return _cv2.cvtColor(picture, _cv2.COLOR_RGB2GRAY)


class FrameCrop(_PictureWrapper):
    """Keep ``width`` by ``height`` pixels of pictures, from column ``sx`` and row ``sy`` on."""

    def __init__(
        self,
        env: Env,
        sx: int = 0,
        sy: int = 0,
        width: int = 84,
        height: int = 84,
        channel_order: ChannelOrder = "channels_last",
        fields: Fields = None,
    ) -> None:
        def crop(picture: Array) -> Array:
            cropped = picture[max(sy, 0) : sy + height, max(sx, 0) : sx + width]
            if min(sx, sy, width, height) < 0 or cropped.shape[:2] != (height, width):
                box, (rows, columns) = (sx, sy, width, height), picture.shape[:2]
                raise Refused(f"the crop {box} isn't within pictures of {columns} by {rows} pixels")
            return cropped

        super().__init__(env, crop, fields, channel_order)


class EpisodicRandomFrameCrop(_PictureWrapper):
    """Keep a part of pictures that lies somewhere else in each episode, drawn by NumPy's own generator."""

    def __init__(
        self,
        env: Env,
        cropping_fraction: float = 0.8,
        channel_order: ChannelOrder = "channels_last",
        share_cropping: bool = True,
        fields: Fields = None,
    ) -> None:
        """``cropping_fraction``: of each side, between 0 and 1; ``share_cropping``: all fields have one place."""
        if not 0 < cropping_fraction < 1:
            raise Refused(f"cropping_fraction is {cropping_fraction}; expected between 0 and 1")

        def crop(picture: Array) -> Array:
            place = self._places.setdefault(None if share_cropping else self._field, np.random.random(2))
            whole = np.array(picture.shape[:2])
            height, width = sides = (cropping_fraction * whole).astype(int)
            top, left = (place * (whole - sides)).astype(int)
            return picture[top : top + height, left : left + width]

        super().__init__(env, crop, fields, channel_order)

    def _begin(self) -> None:
        self._places: dict[str | None, Array] = {}


class FrameFlip(_PictureWrapper):
    """Turn the pictures of some episodes upside down, or left to right, or both, by NumPy's own generator."""

    def __init__(
        self,
        env: Env,
        ud_flip_prob: float = 0.5,
        lr_flip_prob: float = 0.5,
        channel_order: ChannelOrder = "channels_last",
        fields: Fields = None,
    ) -> None:
        self._probabilities = ud_flip_prob, lr_flip_prob
        if not all(0 <= each <= 1 for each in self._probabilities):
            raise Refused(f"the probabilities are {self._probabilities}; expected 0 to 1")
        super().__init__(env, lambda picture: picture[:: self._down, :: self._across], fields, channel_order)

    def _begin(self) -> None:
        self._down, self._across = (-1 if np.random.random() < each else 1 for each in self._probabilities)


class DMAtariPreprocessing(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Play Atari as DeepMind does: some no-ops, then FIRE at first and after each life, and every fourth frame.

    The picture is the maximum of the last two frames, small and grey. A lost life ends the step, not the episode.
    """

    def __init__(
        self, env: Env, frame_skip: int = 4, noop_max: int = 30, screen_size: int = 84, gray_scale: bool = True
    ) -> None:
        super().__init__(env)
        self.frame_skip = validation.integer("frame_skip", frame_skip, 1)
        self.screen_size = validation.integer("screen_size", screen_size, 1)
        self.noop_max, self.gray_scale = noop_max, gray_scale
        self._meanings: list[str] = env.get_wrapper_attr("get_action_meanings")()
        if self._meanings[0] != "NOOP":
            raise Refused(f"the actions are {self._meanings}; expected Atari's, with NOOP first")
        self.observation_space = spaces.Box(0, 255, (screen_size, screen_size, 1 if gray_scale else 3), np.uint8)
        self._lives = 0

    def fire(self, observation: Any = None) -> Any:
        """Begin a life, where the game waits for FIRE; return the last picture."""
        if self._meanings[1:2] == ["FIRE"] and len(self._meanings) >= 3:
            for action in (1, 2):
                observation = self.env.step(action)[0]
        return observation

    def reset(self, **options: Any) -> Any:
        """Begin an episode."""
        observation, info = self.env.reset(**options)
        self._lives = self._lives_now()
        for _ in range(int(self.unwrapped.np_random.integers(1, self.noop_max + 1)) if self.noop_max > 0 else 0):
            observation, _, terminated, truncated, info = self.env.step(0)
            if terminated or truncated:
                observation, info = self.env.reset()
        return self._picture([self.fire(observation)]), info

    def step(self, action: Any) -> Any:
        """Act for some frames."""
        frames, lost = deque[Any](maxlen=2), False

        def look(observation: Any) -> bool:
            nonlocal lost
            frames.append(observation)
            lives = self._lives_now()
            lost, self._lives = lives < self._lives, lives
            return lost

        observation, *rest = _repeated(self.env, action, self.frame_skip, look)
        return self._picture([self.fire(observation)] if lost and not any(rest[1:3]) else frames), *rest

    def _lives_now(self) -> int:
        return self.env.get_wrapper_attr("ale").lives()

    def _picture(self, frames: Sequence[Any]) -> Array:
        picture = np.maximum.reduce(list(frames))
        if self.gray_scale and picture.ndim == 3:
            picture = _grey(picture)
        size = (self.screen_size, self.screen_size)
        return _with_channels(_cv2.resize(picture, size, interpolation=_cv2.INTER_AREA))


class _BoxActionWrapper(gymnasium.ActionWrapper[Any, Any, Any]):
    """Change the continuous parts of actions by ``change``, of a part's space within and its value."""

    def __init__(self, env: Env, change: Callable[[Any, Any], Any]) -> None:
        super().__init__(env)
        self._inner, self._change = _nested(env.action_space), change

    def action(self, action: Nest) -> Nest:
        """Return the action that the environment within takes."""

        def change(space: Any, part: Any) -> Any:
            return self._change(space, part) if isinstance(space, spaces.Box) else part

        return nest.map_structure_up_to(self._inner, change, self._inner, action, check_types=False)


class ContinuousActionClip(_BoxActionWrapper):
    """Clip continuous actions to their bounds and to ``min_v`` and ``max_v``; refuse those that are no numbers."""

    def __init__(self, env: Env, min_v: float = -1e9, max_v: float = 1e9) -> None:
        def clip(space: Any, part: Any) -> Any:
            if np.isnan(part).any():
                raise Refused(f"the action is {part!r:.120}; expected numbers")
            return np.clip(part, space.low, space.high).clip(min_v, max_v)

        super().__init__(env, clip)


class ContinuousActionMapping(_BoxActionWrapper):
    """Take continuous actions of ``low`` to ``high`` in place of their own bounds; discrete ones stay as they are."""

    def __init__(self, env: Env, low: float, high: float) -> None:
        def scale(space: Any, part: Any) -> Any:
            return space.low + (part - low) / (high - low) * (space.high - space.low)

        def mapped(space: Any) -> Space:
            if not isinstance(space, spaces.Box):
                return space
            if not space.is_bounded():
                raise Refused(f"actions of {space} have no finite bounds; nothing stands for their {low} and {high}")
            return spaces.Box(low, high, space.shape, space.dtype.type)

        super().__init__(env, scale)
        self.action_space = _space(nest.map_structure(mapped, self._inner))


class NormalizedAction(ContinuousActionMapping):
    """Take continuous actions of -1 to 1 in place of their own bounds; discrete ones stay as they are."""

    def __init__(self, env: Env) -> None:
        super().__init__(env, -1.0, 1.0)


class NonEpisodicEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Let no episode end."""

    def step(self, action: Any) -> Any:
        """Act, and pass over the end."""
        observation, reward, _, _, info = self.env.step(action)
        return observation, reward, False, False, info


def _repeated(env: Env, action: Any, times: int, look: Callable[[Any], bool]) -> tuple[Any, float, bool, bool, Any]:
    """Repeat an action until the episode ends or ``look`` says so; add up the rewards, and count the frames."""
    earned, frames = 0.0, 0
    while True:
        observation, reward, terminated, truncated, info = env.step(action)
        earned, times = earned + float(reward), times - 1
        frames += info.get("num_env_frames", 1)
        if look(observation) or terminated or truncated or not times:
            return observation, earned, terminated, truncated, {**info, "num_env_frames": frames}


def _with_channels(picture: Array) -> Array:
    return picture if picture.ndim == 3 else picture[..., np.newaxis]
