"""Remotes as one batched environment, straight over the core: no processes, no copies but one."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from pluriverse import remotes as remotes_module
from pluriverse.adapters.actions import BUTTONS, ActionMap
from pluriverse.adapters.core import Core
from pluriverse.adapters.observations import Observations
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.adapters.player import Turn
from pluriverse.env.views import View, make_view
from pluriverse.errors import Closed, ConfigurationError
from pluriverse.remotes import RemoteManager

from . import nest
from .alf_environment import AlfEnvironment
from .data_structures import GOES_ON, OUTCOME, StepType, TimeStep, check
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action, zero_where
from .tensors import Array
from .texts import encode, text_spec

_INFO_SPEC: Final = {
    "elapsed": TensorSpec((), "int32", "elapsed"),
    "terminated": TensorSpec((), "bool", "terminated"),
    "truncated": TensorSpec((), "bool", "truncated"),
    "lost": TensorSpec((), "bool", "lost"),
}


class PluriverseAlfEnvironment(AlfEnvironment):
    """All remotes as one batch, in real time: they go on between two calls. Takes and gives tensors.

    A step acts on all remotes at once, and waits until each has a frame that was not given before; those that came
    meanwhile are dropped, and rewards add up. Where an episode is over the next is asked for at once, while the agent
    thinks, and is what the next step gives of that remote; its action is passed over.

    An outcome ends an episode with discount 0. A limit, or a remote that was lost, ends it with ``discount``; the next
    step then waits until that remote is back, while the others go on unseen. ``env_info`` has ``elapsed`` (int32, steps
    of the episode), ``terminated``, ``truncated`` and ``lost``; ``get_info`` has all of docs/agents.md, with ``error``.
    """

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager = 1,
        *,
        size: tuple[int, int] | None = None,
        grey: bool = False,
        crop: tuple[int, int, int, int] | None = None,
        image_channel_first: bool = True,
        discount: float = GOES_ON,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        """Start or find the remotes, and learn what they play; blocks.

        Args:
            env_id: such as ``"gym-core.PongDeterministic-v3"``; None: whatever they play.
            remotes: how many to start, or where they are, as in ``pluriverse.make``.
            size: (height, width) to resize pictures to; None: as they are.
            grey: one channel instead of three.
            crop: (x, y, width, height) of the screen; None: what the environment draws on.
            image_channel_first: pictures as (channels, height, width), as torch has them.
            discount: of steps after which an episode could go on, above 0 and at most 1.
            seed: of the first episodes; remote ``i`` gets ``seed + i``.
            options: of ``Core`` (``actions``, ``frame_skip``, ``max_episode_steps``, ``fps``) and ``pluriverse.make``.

        Raises:
            ConfigurationError: what is asked for can't be had.
            RemoteUnavailable: a remote could not be started or reached.
        """
        super().__init__()
        if not 0 < discount <= 1:
            raise ConfigurationError(f"the discount is {discount!r}; expected above 0 and at most 1")
        self._discount = discount
        self._core = Core(env_id, remotes, pictures=PictureOptions(crop=crop, size=size, grey=grey), **options)
        try:
            self._batch = _Batch(self._core, image_channel_first)
            self._action_spec = action_spec(self._core.actions)
            self._no_action = nest.map_structure(partial(_zeros_of, self._core.n), self._action_spec)
            self._seeds: list[int | None] = [None] * self._core.n
            if seed is not None:
                self.seed(seed)
        except BaseException:
            self._core.close()
            raise
        self._title = env_id or "pluriverse"
        self._began = [False] * self._core.n
        """Whose next episode was asked for, and not given yet."""
        self._view: View | None = None
        self._closed = False

    @property
    def is_tensor_based(self) -> bool:
        """It is."""
        return True

    @property
    def batched(self) -> bool:
        """It is."""
        return True

    @property
    def batch_size(self) -> int:
        """How many remotes there are."""
        return self._core.n

    @property
    def metadata(self) -> dict[str, Any]:
        """``render_modes`` and ``render_fps``."""
        return {"render_modes": ["human", "rgb_array"], "render_fps": self._core.fps}

    def env_info_spec(self) -> nest.Nest:
        """``elapsed``, ``terminated``, ``truncated``, ``lost``."""
        return dict(_INFO_SPEC)

    def observation_spec(self) -> nest.Nest:
        """Of the picture, uint8; or a dict of ``vision``, ``text`` (as in ``texts``) and ``observation`` (float32)."""
        return self._batch.spec

    def action_spec(self) -> nest.Nest:
        """Of one number, of a bit for each key, or a dict of ``pointer``, ``buttons`` and ``keys``."""
        return self._action_spec

    def seed(self, seed: int | Sequence[int]) -> None:
        """Seed the episodes that the next ``reset`` begins: remote ``i`` gets ``seed + i``, or ``seed[i]``.

        Raises:
            ConfigurationError: ``seed`` is a list, and hasn't one for each.
        """
        seeds = [seed + index for index in range(self._core.n)] if isinstance(seed, int) else list(seed)
        if len(seeds) != self._core.n:
            raise ConfigurationError(f"there are {len(seeds)} seeds for {self._core.n} remotes; expected one for each")
        self._seeds = list(seeds)

    def render(self, mode: str = "rgb_array") -> Any:
        """``"rgb_array"``: the first remote's screen, uint8 (height, width, 3). ``"human"``, ``"terminal"``: show it.

        Raises:
            ConfigurationError: there is no such mode.
        """
        picture = self._core.turn(0).screen
        if mode == "rgb_array":
            return picture
        if self._view is None:
            self._view = make_view(mode, title=self._title)
        self._view.show(picture)
        return None

    def get_info(self) -> list[dict[str, Any]]:
        """Of each remote all that is known of its last step: its lags, and ``error`` where it was lost."""
        return [self._core.turn(index).info for index in range(self._core.n)]

    def close(self) -> None:
        """Let go of the remotes; may be called repeatedly."""
        self._closed = True
        if self._view is not None:
            self._view.close()
            self._view = None
        self._core.close()

    def _reset(self) -> TimeStep:
        self._require_open()
        for index, seed in enumerate(self._seeds):
            # An episode that nobody has seen yet is as good as another one.
            if seed is not None or not self._began[index]:
                self._core.reset(index, seed)
        self._seeds = [None] * self._core.n
        return self._receive(self._no_action)

    def _step(self, action: nest.Nest) -> TimeStep:
        self._require_open()
        n = self._core.n
        checked = as_action(self._action_spec, action, (n,))
        each = nest.unstack(checked, n)
        self._core.send({index: each[index] for index in range(n) if not self._began[index]})
        return self._receive(checked)

    def _receive(self, action: nest.Nest) -> TimeStep:
        n = self._core.n
        self._core.receive(n)
        turns = [self._core.turn(index) for index in range(n)]
        first = np.array([turn.first for turn in turns])
        terminated = np.array([turn.terminated for turn in turns])
        truncated = np.array([turn.truncated and not turn.terminated for turn in turns])
        step = TimeStep(
            np.where(first, StepType.FIRST, np.where(terminated | truncated, StepType.LAST, StepType.MID)),
            np.array([turn.reward for turn in turns], np.float32),
            np.where(first, GOES_ON, np.where(terminated, OUTCOME, self._discount)).astype(np.float32),
            self._batch.observations(turns),
            nest.map_structure(partial(zero_where, first), action),
            np.arange(n, dtype=np.int32),
            env_info={
                "elapsed": np.array([turn.elapsed for turn in turns], np.int32),
                "terminated": terminated,
                "truncated": truncated,
                "lost": np.array([turn.lost for turn in turns]),
            },
        )
        over = check(step).is_last()
        self._began = over.tolist()
        for index in np.flatnonzero(over).tolist():
            self._core.reset(index, join=True)
        return step.to_tensors()

    def _require_open(self) -> None:
        if self._closed:
            raise Closed("this environment is closed")


class _Batch:
    """Makes the observations of a batch, in arrays that are new each time: they become the agent's tensors."""

    def __init__(self, core: Core, channel_first: bool) -> None:
        self._observations = Observations(core.spaces, core.pictures)
        height, width, channels = core.pictures.shape
        shape = (channels, height, width) if channel_first else (height, width, channels)
        self._copy = _channel_copier() if channel_first and channels > 1 else _copy
        self._vision = BoundedTensorSpec(shape, "uint8", 0, 255, "vision")
        parts: dict[str, TensorSpec] = {"vision": self._vision}
        if "text" in self._observations.names:
            parts["text"] = text_spec()
        if self._observations.state_shape is not None:
            parts["observation"] = TensorSpec(self._observations.state_shape, "float32", "observation")
        self._parts = parts
        self.spec: nest.Nest = parts if len(parts) > 1 else self._vision

    def observations(self, turns: Sequence[Turn]) -> nest.Nest:
        """Of the last turns."""
        vision = np.empty((len(turns), *self._vision.shape), np.uint8)
        parts: list[dict[str, Any]] = []
        for index, turn in enumerate(turns):
            made = self._observations.make(turn)
            picture = made["vision"] if len(self._parts) > 1 else made
            self._copy(picture, vision[index])
            parts.append(made)
        if len(self._parts) == 1:
            return vision
        batch: dict[str, Array] = {"vision": vision}
        if "text" in self._parts:
            batch["text"] = np.stack([encode(made["text"]) for made in parts])
        if "observation" in self._parts:
            batch["observation"] = np.stack([made["observation"] for made in parts]).astype(np.float32)
        return batch


def action_spec(actions: ActionMap) -> nest.Nest:
    """The specs of the actions that a remote takes.

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


def load(
    environment_name: str | None,
    remotes: int | str | RemoteManager | None = None,
    *,
    batch_size: int | None = None,
    **options: Any,
) -> PluriverseAlfEnvironment:
    """Start or find remotes, and give them as one batched environment; ``create_environment`` takes this as it is.

    Args:
        environment_name: such as ``"gym-core.PongDeterministic-v3"``.
        remotes: where they are, as in ``pluriverse.make``; None: start as many as are wanted.
        batch_size: how many are wanted; None: as many as there are.
        options: of ``PluriverseAlfEnvironment``.

    Raises:
        ConfigurationError: there are more or fewer, or what is asked for can't be had.
        RemoteUnavailable: a remote could not be started or reached.
    """
    manager = (batch_size or 1) if remotes is None else remotes
    if isinstance(manager, int | str):
        manager = remotes_module.parse(manager, environment_name)
    if batch_size is not None and manager.n != batch_size:
        raise ConfigurationError(
            f"remotes={remotes!r} are {manager.n}, and the batch is of {batch_size}; expected as many"
        )
    return PluriverseAlfEnvironment(environment_name, manager, **options)


# create_environment makes one of these, instead of a process for each.
load.batched = True  # pyright: ignore[reportFunctionMemberAccess]


def _zeros_of(n: int, spec: TensorSpec) -> Array:
    return spec.numpy_zeros((n,))


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
