"""EnvPool's options by EnvPool's names, with the defaults of its Atari, and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self, cast

import numpy as np
from pluriverse_protocol.atari import MINIMAL_ACTIONS

from pluriverse import remotes as remotes_module
from pluriverse import validation
from pluriverse.adapters.core import Core
from pluriverse.adapters.making import fit, make_copies
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import RemoteManager

from .errors import WrongOption

# EnvPool's integers have 32 bits. Seeds below zero are sent modulo this.
INTEGERS: Final = 2**31

# The least and the most of each integer. More than a second of pictures in a stack, or ten seconds of frames in a step,
# is a mistake.
_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("num_envs", "max_episode_steps", "img_height", "img_width"), (1, INTEGERS - 1)),
    **dict.fromkeys(("batch_size", "num_threads", "noop_max"), (0, INTEGERS - 1)),
    **dict.fromkeys(("render_env_id", "render_width", "render_height"), (0, INTEGERS - 1)),
    **dict.fromkeys(("thread_affinity_offset", "mode", "difficulty"), (-1, INTEGERS - 1)),
    "stack_num": (1, 64),
    "frame_skip": (1, 600),
}

_FLAGS: Final = (
    "zero_discount_on_life_loss",
    "episodic_life",
    "reward_clip",
    "use_fire_reset",
    "full_action_space",
    "use_inter_area_resize",
    "gray_scale",
)

# Options that can have only their default, and why.
_FIXED: Final[Mapping[str, str]] = {
    "max_num_players": "one agent plays one remote",
    "gym_reset_return_info": "a reset returns the observation and an info, as EnvPool's does",
    "from_pixels": "an observation is a picture anyway, of img_height by img_width",
    "render_camera_id": "a remote has one screen and no cameras",
}

# What ``connection`` may have: ``clock`` and, in lockstep, ``slots``; and options of ``pluriverse.make``.
CONNECTION: Final = (
    "start_timeout_s",
    "replace_on_crash",
    "vnc",
    "action_probes",
    "probe_keysym",
    "env_options",
    "clock",
    "slots",
)


class Config(NamedTuple):
    """EnvPool's options, then ours. Times are in steps, but ``noop_max`` is in frames, rounded up to whole steps.

    ``img_height`` and ``img_width`` None: as the environment draws; they must be what it draws if
    ``use_inter_area_resize`` is False. ``remotes`` as in ``pluriverse.make``; None: ``num_envs`` are started on this
    machine. ``crop`` is (x, y, width, height) on the screen; None: the part that the environment draws on. A rendered
    size of 0 is the environment's own.
    """

    num_envs: int = 1
    batch_size: int = 0
    num_threads: int = 0
    max_num_players: int = 1
    thread_affinity_offset: int = -1
    base_path: str = "envpool"
    seed: int = 42
    env_seed: list[int] = []  # noqa: RUF012 - a default of a named tuple, never changed
    gym_reset_return_info: bool = True
    max_episode_steps: int = INTEGERS - 1
    stack_num: int = 4
    frame_skip: int = 4
    noop_max: int = 30
    zero_discount_on_life_loss: bool = False
    episodic_life: bool = False
    reward_clip: bool = False
    use_fire_reset: bool = True
    img_height: int | None = 84
    img_width: int | None = 84
    task: str = "pong"
    mode: int = -1
    difficulty: int = -1
    full_action_space: bool = False
    repeat_action_probability: float = 0.0
    use_inter_area_resize: bool = True
    gray_scale: bool = True

    reward_threshold: float | None = None
    from_pixels: bool = False
    render_mode: str | None = None
    render_env_id: int = 0
    render_width: int = 0
    render_height: int = 0
    render_camera_id: int = -1
    remotes: int | str | RemoteManager | None = None
    actions: str = "auto"
    crop: tuple[int, int, int, int] | None = None
    fps: float | None = None
    connection: Mapping[str, Any] = {}

    @property
    def is_atari(self) -> bool:
        """Whether ``task`` is an Atari game, by the name of its ROM, and not an id of pluriverse's."""
        return self.task in MINIMAL_ACTIONS

    @property
    def env_id(self) -> str:
        """The remote's environment. EnvPool skips frames itself, so that the remote plays a game that doesn't."""
        words = "".join(word.capitalize() for word in self.task.split("_"))
        return f"gym-core.{words}NoFrameskip-v3" if self.is_atari else self.task

    @property
    def env_options(self) -> dict[str, Any]:
        """What the remote is to do: everything that is more than a number of frames and a picture's size."""
        options: dict[str, Any] = {name: getattr(self, name) for name in ("mode", "difficulty")}
        options = {name: value for name, value in options.items() if value != -1}
        if self.full_action_space:
            options["full_action_space"] = True
        if self.is_atari:
            options |= {"max_pool": True, "repeat_action_probability": float(self.repeat_action_probability)}
        return options | validation.mapping("env_options", self.connection.get("env_options"))

    @property
    def seeds(self) -> list[int]:
        """The seed of each environment's first episode."""
        given = self.env_seed or [self.seed + index for index in range(self.num_envs)]
        return [seed % INTEGERS for seed in given]

    def checked(self) -> Self:
        """Return the options as they are played: with ``remotes`` found, and a ``batch_size``.

        Raises:
            ConfigurationError: an option is out of range, or remotes can't do it; says which and why.
        """
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not ((_is_integer(value) and low <= value <= high) or (value is None and name.startswith("img_"))):
                raise WrongOption(f"{name} is {value!r}; expected an integer of {low} to {high}")
        for name, why in _FIXED.items():
            if getattr(self, name) != self._field_defaults[name]:
                raise WrongOption(f"{name} can only be {self._field_defaults[name]!r}: {why}")
        if self.batch_size > self.num_envs:
            raise WrongOption(
                f"batch_size is {self.batch_size}, and num_envs {self.num_envs}; recv can't wait for more than all"
            )
        if (self.img_height is None) != (self.img_width is None):
            raise WrongOption("img_height and img_width go together; give both or neither")
        try:
            for name in _FLAGS:
                validation.flag(name, getattr(self, name))
            validation.number("repeat_action_probability", self.repeat_action_probability, 0, 1)
            if self.reward_threshold is not None:
                validation.number("reward_threshold", self.reward_threshold)
        except ConfigurationError as error:
            raise WrongOption(str(error)) from None
        if self.render_mode not in (None, "rgb_array", "human"):
            raise WrongOption(f"render_mode is {self.render_mode!r}; expected None, 'rgb_array' or 'human'")
        task: Any = self.task
        task = task.decode() if isinstance(task, bytes) else task
        played = self._replace(task=task, batch_size=self.batch_size or self.num_envs)
        manager = played.manager()
        if manager is not None and not fit(self.num_envs, manager, self.connection.get("clock")):
            raise WrongOption(
                f"num_envs is {self.num_envs}, and remotes are {manager.n}; each environment is a remote of its own, "
                "but in lockstep, where each remote can hold as many as the others"
            )
        return played._replace(remotes=manager)._with_seeds()

    def manager(self) -> RemoteManager | None:
        """Return the manager of the remotes; None: they are started as ``num_envs`` says."""
        if self.remotes is None:
            return None
        start_s = self.connection.get("start_timeout_s", remotes_module.START_S)
        return remotes_module.parse(self.remotes, self.env_id, start_timeout_s=start_s)

    def open(self) -> Core:
        """Start or find the remotes, and wait until they play.

        Raises:
            ConfigurationError: an option is wrong, or something is missing on this machine.
            RemoteUnavailable: a remote could not be started or reached.
        """
        size = None
        if self.img_height is not None and self.img_width is not None:
            size = (self.img_height, self.img_width)
        options: dict[str, Any] = {**self.connection, "env_options": self.env_options}
        try:
            core = make_copies(
                self.env_id,
                self.num_envs,
                self.remotes if isinstance(self.remotes, RemoteManager) else self.manager(),
                actions=cast("Any", self.actions),
                pictures=PictureOptions(self.crop, size, self.gray_scale),
                frame_skip=self.frame_skip,
                fps=self.fps,
                whole_screens=self.render_mode is not None,
                **options,
            )
        except ConfigurationError as error:
            raise WrongOption(str(error)) from error
        _, _, width, height = core.pictures.box
        if not self.use_inter_area_resize and core.pictures.shape[:2] != (height, width):
            core.close()
            raise WrongOption(
                "pictures are resized by area; leave use_inter_area_resize at True, or have them as they are drawn: "
                f"img_height={height}, img_width={width}"
            )
        return core

    def _with_seeds(self) -> Self:
        seed, seeds = cast("tuple[Any, Any]", (self.seed, self.env_seed))
        if validation.sequence(seeds) is None:
            raise WrongOption(f"env_seed is {seeds!r:.80}; expected a seed for each environment")
        if hasattr(seed, "__len__"):
            if len(seeds):
                raise WrongOption("seed and env_seed are both sequences; give one of them")
            seed, seeds = 0, seed
        of_each = np.ndim(seeds) == 1 and len(seeds) in (0, self.num_envs)
        if not of_each or not all(_is_integer(each) and -INTEGERS <= each < INTEGERS for each in (seed, *seeds)):
            wrong = seeds if len(seeds) else seed
            raise WrongOption(f"the seed is {wrong!r:.80}; expected 32 bits, or that for each of {self.num_envs}")
        return self._replace(seed=int(seed), env_seed=[int(each) for each in seeds])


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
