"""EnvPool's options by EnvPool's names, with the defaults of its Atari, and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

from pluriverse_protocol.atari import MINIMAL_ACTIONS

from pluriverse import remotes as remotes_module
from pluriverse import validation
from pluriverse.adapters.core import Core
from pluriverse.adapters.making import make_copies
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.remotes import RemoteManager

# EnvPool's integers have 32 bits.
MAX: Final = 2**31 - 1

# EnvPool's names of the Atari games, by their ROMs.
GAMES: Final = {rom: "".join(word.capitalize() for word in rom.split("_")) for rom in sorted(MINIMAL_ACTIONS)}

_LEAST: Final[Mapping[str, int]] = {
    **dict.fromkeys(("max_episode_steps", "stack_num", "frame_skip"), 1),
    **dict.fromkeys(("num_threads", "noop_max"), 0),
    **dict.fromkeys(("mode", "difficulty"), -1),
}


class Config(NamedTuple):
    """The task and how to connect, EnvPool's options, then ours.

    ``task`` is an Atari game, by the name of its ROM, or an id of pluriverse's; ``connection`` has options of
    ``pluriverse.make``. Times are in steps, but ``noop_max`` is in frames, rounded up to whole steps. ``num_envs``
    None: as many as ``remotes``, or 1. ``seed`` is environment 0's, and each further one's is 1 more; or a sequence of
    one for each. ``num_threads`` changes nothing. ``img_height`` and ``img_width`` None: as the environment draws.
    ``remotes`` as in ``pluriverse.make``; None: ``num_envs`` are started on this machine. ``crop`` is (x, y, width,
    height) on the screen; None: the part that the environment draws on.
    """

    task: str = "pong"
    connection: Mapping[str, Any] = {}

    num_envs: int | None = None
    batch_size: int = 0
    num_threads: int = 0
    seed: int | Sequence[int | None] = 42
    max_episode_steps: int = MAX
    stack_num: int = 4
    frame_skip: int = 4
    noop_max: int = 30
    zero_discount_on_life_loss: bool = False
    episodic_life: bool = False
    reward_clip: bool = False
    use_fire_reset: bool = True
    img_height: int | None = 84
    img_width: int | None = 84
    mode: int = -1
    difficulty: int = -1
    full_action_space: bool = False
    repeat_action_probability: float = 0.0
    gray_scale: bool = True

    remotes: int | str | RemoteManager | None = None
    actions: str = "auto"
    crop: tuple[int, int, int, int] | None = None
    fps: float | None = None

    @property
    def is_atari(self) -> bool:
        """Whether ``task`` is one of EnvPool's Atari games."""
        return self.task in GAMES

    @property
    def env_id(self) -> str:
        """The remote's environment. EnvPool skips frames itself, so that the remote plays a game that doesn't."""
        return f"gym-core.{GAMES[self.task]}NoFrameskip-v3" if self.is_atari else self.task

    @property
    def env_options(self) -> dict[str, Any]:
        """What the remote is to do: everything that is more than a number of frames and a picture's size."""
        options: dict[str, Any] = {"mode": self.mode, "difficulty": self.difficulty}
        options = {name: value for name, value in options.items() if value != -1}
        if self.full_action_space:
            options["full_action_space"] = True
        if self.is_atari:
            options |= {"max_pool": True, "repeat_action_probability": float(self.repeat_action_probability)}
        return options | validation.mapping("env_options", self.connection.get("env_options"))

    @property
    def pictures(self) -> PictureOptions:
        """The pictures of the agent."""
        as_drawn = self.img_height is None and self.img_width is None
        size = None if as_drawn else (self.img_height, self.img_width)
        return PictureOptions(self.crop, validation.picture_size(size, "(img_height, img_width)"), self.gray_scale)

    def checked(self) -> Self:
        """Return the options as they are played: with ``remotes`` found, and as many seeds as environments."""
        for name, default in self._field_defaults.items():
            if isinstance(default, bool):
                validation.flag(name, getattr(self, name))
        for name, least in _LEAST.items():
            validation.integer(name, getattr(self, name), least, MAX)
        validation.number("repeat_action_probability", self.repeat_action_probability, 0, 1)
        assert self.pictures  # or they are refused
        n, manager = self.num_envs, None
        if self.remotes is not None:
            given = {name: each for name, each in self.connection.items() if name in ("start_timeout_s", "clock")}
            manager = remotes_module.parse(self.remotes, self.env_id, **given)
        if n is None:
            n = 1 if manager is None else manager.n
        n = validation.integer("num_envs", n, 1, MAX)
        batch_size = validation.integer("batch_size", self.batch_size, 0, n) or n
        return self._replace(num_envs=n, batch_size=batch_size, seed=validation.seeds(self.seed, n), remotes=manager)

    def open(self) -> Core:
        """Start or find the remotes, and wait until they play."""
        options: dict[str, Any] = {**self.connection, "env_options": self.env_options}
        return make_copies(
            self.env_id,
            self.num_envs,
            self.remotes,
            actions=self.actions,
            pictures=self.pictures,
            frame_skip=self.frame_skip,
            fps=self.fps,
            **options,
        )
