"""EnvPool's options: their defaults, what they mean of a remote, and which of their values a remote can't have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

import numpy as np

from pluriverse.adapters.actions import Kind
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import RemoteManager

# EnvPool's seeds are those of a 32-bit integer. The half of them that is below zero is sent as what it is modulo this.
SEEDS: Final = 2**31

# A stack of so many pictures is a second at 60 a second; more is a slip, and gigabytes with many environments.
MAX_STACK: Final = 64

# EnvPool's Atari shows every fourth frame; a step of over ten seconds at 60 frames a second is a slip.
MAX_FRAME_SKIP: Final = 600


class Config(NamedTuple):
    """What an EnvPool was made with, under EnvPool's names. The defaults leave a remote's picture and pace as they are.

    Times are counted in steps, but for ``noop_max``: frames, rounded up to whole steps. None for ``img_height`` and
    ``img_width``: as the environment draws; for ``max_episode_steps``: no limit but the remote's.
    """

    num_envs: int = 1
    batch_size: int = 0
    num_threads: int = 0
    max_num_players: int = 1
    thread_affinity_offset: int = -1
    seed: int = 42
    env_seed: list[int] = []  # noqa: RUF012 - a default of a named tuple, which nobody changes
    gym_reset_return_info: bool = True
    max_episode_steps: int | None = None
    reward_threshold: float | None = None
    stack_num: int = 1
    frame_skip: int = 1
    noop_max: int = 0
    zero_discount_on_life_loss: bool = False
    episodic_life: bool = False
    reward_clip: bool = False
    use_fire_reset: bool = False
    img_height: int | None = None
    img_width: int | None = None
    task: str = ""
    mode: int = -1
    difficulty: int = -1
    full_action_space: bool = False
    repeat_action_probability: float = 0.0
    use_inter_area_resize: bool = True
    gray_scale: bool = False

    @property
    def seeds(self) -> list[int]:
        """The seed of each environment's first episode."""
        given = self.env_seed or [self.seed + index for index in range(self.num_envs)]
        return [seed % SEEDS for seed in given]


# What EnvPool's Atari has where it isn't told otherwise.
ATARI: Final = Config(
    max_episode_steps=27000,
    stack_num=4,
    frame_skip=4,
    noop_max=30,
    use_fire_reset=True,
    img_height=84,
    img_width=84,
    gray_scale=True,
)

# Options of which a remote can have one value only, and why.
_FIXED: Final[Mapping[str, str]] = {
    "max_num_players": "one agent plays one remote",
    "gym_reset_return_info": "a reset returns the observation and an info, as EnvPool's does",
    "mode": "a remote's game is in its first mode; another one is another environment",
    "difficulty": "a remote's game is as difficult as its id says",
    "full_action_space": "the actions are those that the remote says; actions='keys' gives all of its keys",
    "use_inter_area_resize": "pictures are made smaller by area",
}


@dataclass(frozen=True, slots=True)
class Connection:
    """What an EnvPool of remotes is told beside EnvPool's own options.

    ``remotes`` as in ``pluriverse.make``; None: ``num_envs`` are started on this machine. ``crop`` is (x, y, width,
    height) on the screen; None: what the environment draws on. ``options`` are those of ``VectorEnv.configure``.
    """

    remotes: int | str | RemoteManager | None = None
    actions: Kind | str = "auto"
    crop: tuple[int, int, int, int] | None = None
    fps: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


_CONNECTION: Final = ("remotes", "actions", "crop", "fps")
_CONFIGURE: Final = ("start_timeout_s", "replace_on_crash", "vnc", "action_probes", "probe_keysym")
_RENDER: Final = ("render_mode", "render_env_id", "render_width", "render_height", "render_camera_id")


@dataclass(frozen=True, slots=True)
class Rendering:
    """How ``render`` shows: EnvPool's options. A size of 0 is the environment's own."""

    render_mode: str | None = None
    render_env_id: int = 0
    render_width: int = 0
    render_height: int = 0
    render_camera_id: int = -1


def read(
    task: str, defaults: Config, n_remotes: int | None, options: Mapping[str, Any]
) -> tuple[Config, Connection, Rendering]:
    """The options of a call, checked; ``n_remotes`` is how many its ``remotes`` are, None where they don't say.

    Raises:
        ConfigurationError: an option is unknown, out of range, or can't be had of a remote; says which and why.
    """
    known = {*Config._fields, *_CONNECTION, *_CONFIGURE, *_RENDER} - {"task"}
    if unknown := sorted(options.keys() - known):
        raise ConfigurationError(
            f"there is no option {', '.join(unknown)}; expected some of {', '.join(sorted(known))}"
        )
    given = {key: value for key, value in options.items() if key in Config._fields}
    if n_remotes is not None:
        given.setdefault("num_envs", n_remotes)
    config = _checked(defaults._replace(task=task, **_with_seeds(given)))
    if n_remotes not in (None, config.num_envs):
        raise ConfigurationError(
            f"num_envs is {config.num_envs}, and remotes are {n_remotes}; each environment is a remote of its own"
        )
    connection = Connection(
        **{key: options[key] for key in _CONNECTION if key in options},
        options={key: options[key] for key in _CONFIGURE if key in options},
    )
    rendering = Rendering(**{key: options[key] for key in _RENDER if key in options})
    if rendering.render_mode not in (None, "rgb_array", "human"):
        raise ConfigurationError(f"render_mode is {rendering.render_mode!r}; expected None, 'rgb_array' or 'human'")
    if rendering.render_camera_id != -1:
        raise ConfigurationError("render_camera_id: a remote has one screen and no cameras; leave it at -1")
    return config, connection, rendering


def _with_seeds(given: dict[str, Any]) -> dict[str, Any]:
    """``seed`` may be a sequence, which is then ``env_seed``."""
    seeds = given.get("seed")
    if isinstance(seeds, np.ndarray):
        seeds = cast("Any", seeds).tolist()
    if isinstance(seeds, Sequence) and not isinstance(seeds, str | bytes):
        if given.get("env_seed"):
            raise ConfigurationError("seed and env_seed are both sequences; give one of them")
        given = {**given, "seed": 0, "env_seed": list(cast("Sequence[Any]", seeds))}
    return given


def _checked(config: Config) -> Config:
    _require_integers(config)
    if config.batch_size > config.num_envs:
        raise ConfigurationError(
            f"batch_size is {config.batch_size}, and num_envs {config.num_envs}; recv can't wait for more than all"
        )
    if config.env_seed and len(config.env_seed) != config.num_envs:
        raise ConfigurationError(f"there are {len(config.env_seed)} seeds for {config.num_envs} environments")
    for seed in (config.seed, *config.env_seed):
        if not _is_integer(seed) or not -SEEDS <= seed < SEEDS:
            raise ConfigurationError(f"the seed {seed!r} is no 32-bit integer")
    if (config.img_height is None) != (config.img_width is None):
        raise ConfigurationError("img_height and img_width go together; give both or neither")
    if not 0 <= config.repeat_action_probability <= 1:
        raise ConfigurationError(f"repeat_action_probability is {config.repeat_action_probability}; expected 0 to 1")
    for name, why in _FIXED.items():
        only = Config._field_defaults[name]
        if getattr(config, name) != only:
            raise ConfigurationError(f"{name} can only be {only!r}: {why}")
    return config._replace(batch_size=config.batch_size or config.num_envs)


def _require_integers(config: Config) -> None:
    least = {"num_envs": 1, "batch_size": 0, "num_threads": 0, "thread_affinity_offset": -1, "noop_max": 0}
    for name, low in least.items():
        _require_range(name, getattr(config, name), low, SEEDS)
    _require_range("stack_num", config.stack_num, 1, MAX_STACK)
    _require_range("frame_skip", config.frame_skip, 1, MAX_FRAME_SKIP)
    for name in ("max_episode_steps", "img_height", "img_width"):
        if getattr(config, name) is not None:
            _require_range(name, getattr(config, name), 1, SEEDS)


def _require_range(name: str, value: Any, low: int, high: int) -> None:
    if not _is_integer(value) or not low <= value <= high:
        raise ConfigurationError(f"{name} is {value!r}; expected an integer of {low} to {high}")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
