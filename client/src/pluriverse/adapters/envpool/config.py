"""EnvPool's options by EnvPool's names, with the defaults of its Atari, and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self, cast

from pluriverse_protocol.atari import MINIMAL_ACTIONS

from pluriverse import remotes as remotes_module
from pluriverse import validation
from pluriverse.adapters.core import Core
from pluriverse.adapters.making import fit, make_copies
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import RemoteManager

# EnvPool's integers have 32 bits. Seeds below zero are sent modulo this.
INTEGERS: Final = 2**31

# The least and the most of each integer. More than a second of pictures in a stack, or ten seconds of frames in a step,
# is a mistake.
_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("num_envs", "max_episode_steps", "img_height", "img_width"), (1, INTEGERS - 1)),
    **dict.fromkeys(("num_threads", "noop_max"), (0, INTEGERS - 1)),
    **dict.fromkeys(("mode", "difficulty"), (-1, INTEGERS - 1)),
    "stack_num": (1, 64),
    "frame_skip": (1, 600),
}


class Config(NamedTuple):
    """EnvPool's options, then ours. Times are in steps, but ``noop_max`` is in frames, rounded up to whole steps.

    ``seed`` is environment 0's, and each further one's is 1 more; or a sequence of one for each. ``num_threads``
    changes nothing. ``img_height`` and ``img_width`` None: as the environment draws. ``remotes`` as in
    ``pluriverse.make``; None: ``num_envs`` are started on this machine. ``crop`` is (x, y, width, height) on the
    screen; None: the part that the environment draws on. ``connection`` has options of ``pluriverse.make``.
    """

    num_envs: int = 1
    batch_size: int = 0
    num_threads: int = 0
    seed: int | Sequence[int] = 42
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
    gray_scale: bool = True

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
        options: dict[str, Any] = {"mode": self.mode, "difficulty": self.difficulty}
        options = {name: value for name, value in options.items() if value != -1}
        if self.full_action_space:
            options["full_action_space"] = True
        if self.is_atari:
            options |= {"max_pool": True, "repeat_action_probability": float(self.repeat_action_probability)}
        return options | validation.mapping("env_options", self.connection.get("env_options"))

    @property
    def seeds(self) -> list[int]:
        """The seed of each environment's first episode."""
        given = validation.sequence(self.seed)
        if given is None:
            first = _seed(self.seed)
            return [(first + index) % INTEGERS for index in range(self.num_envs)]
        if len(given) != self.num_envs:
            validation.refuse("seed", self.seed, f"one for each of {self.num_envs}")
        return [_seed(seed) % INTEGERS for seed in given]

    def checked(self) -> Self:
        """Return the options as they are played: with ``remotes`` found, and a ``batch_size``."""
        for name, default in self._field_defaults.items():
            value = getattr(self, name)
            if isinstance(default, bool):
                validation.flag(name, value)
            elif name in _RANGES and (value is not None or not name.startswith("img_")):
                validation.integer(name, value, *_RANGES[name])
        validation.integer("batch_size", self.batch_size, 0, self.num_envs)
        validation.number("repeat_action_probability", self.repeat_action_probability, 0, 1)
        if (self.img_height is None) != (self.img_width is None):
            raise ConfigurationError("expected both img_height and img_width, or neither")
        assert self.seeds  # or they are refused
        manager = self.manager()
        if manager is not None and not fit(self.num_envs, manager, self.connection.get("clock")):
            raise ConfigurationError(
                f"num_envs is {self.num_envs}, and remotes are {manager.n}; each environment is a remote of its own, "
                "but in lockstep, where each remote can hold as many as the others"
            )
        return self._replace(remotes=manager, batch_size=self.batch_size or self.num_envs)

    def manager(self) -> RemoteManager | None:
        """Return the manager of the remotes; None: ``num_envs`` of them are started."""
        if self.remotes is None:
            return None
        start_s = self.connection.get("start_timeout_s", remotes_module.START_S)
        return remotes_module.parse(self.remotes, self.env_id, start_timeout_s=start_s)

    def open(self) -> Core:
        """Start or find the remotes, and wait until they play."""
        size = (self.img_height, self.img_width) if self.img_height and self.img_width else None
        options: dict[str, Any] = {**self.connection, "env_options": self.env_options}
        return make_copies(
            self.env_id,
            self.num_envs,
            self.manager(),
            actions=cast("Any", self.actions),
            pictures=PictureOptions(self.crop, size, self.gray_scale),
            frame_skip=self.frame_skip,
            fps=self.fps,
            **options,
        )


def _seed(value: Any) -> int:
    return validation.integer("seed", value, -INTEGERS, INTEGERS - 1)
