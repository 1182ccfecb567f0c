"""EnvPool's ids and options: their defaults, and which of their values a remote supports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

import numpy as np

from pluriverse.adapters.actions import Kind
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import RemoteManager

# EnvPool's seeds are 32-bit integers; those below zero are sent modulo this.
SEEDS: Final = 2**31

# A second of pictures; more is a mistake, and gigabytes with many environments.
MAX_STACK: Final = 64

# EnvPool's Atari shows every fourth frame; a step of over ten seconds at 60 frames per second is a mistake.
MAX_FRAME_SKIP: Final = 600


class Config(NamedTuple):
    """EnvPool's options by EnvPool's names. The defaults leave a remote's picture and pace as they are.

    Times are in steps, but ``noop_max`` is in frames, rounded up to whole steps. None for ``img_height`` and
    ``img_width``: as the environment draws; for ``max_episode_steps``: only the remote's own limit.
    """

    num_envs: int = 1
    batch_size: int = 0
    num_threads: int = 0
    max_num_players: int = 1
    thread_affinity_offset: int = -1
    seed: int = 42
    env_seed: list[int] = []  # noqa: RUF012 - a default of a named tuple, never changed
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


# The defaults of EnvPool's Atari.
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

# Options that can have only their default, and why.
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
    """The options of an EnvPool of remotes beside EnvPool's own.

    ``remotes`` as in ``pluriverse.make``; None: ``num_envs`` are started on this machine. ``crop`` is (x, y, width,
    height) on the screen; None: the part that the environment draws on. ``options`` are ``VectorEnv.configure``'s.
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
    """EnvPool's options of ``render``. A size of 0 is the environment's own."""

    render_mode: str | None = None
    render_env_id: int = 0
    render_width: int = 0
    render_height: int = 0
    render_camera_id: int = -1


def read(
    task: str, defaults: Config, n_remotes: int | None, options: Mapping[str, Any]
) -> tuple[Config, Connection, Rendering]:
    """Return the options of a call, checked; ``n_remotes`` is the number of ``remotes``, None if not known.

    Raises:
        ConfigurationError: an option is unknown, out of range, or not supported by remotes; says which and why.
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


# EnvPool's name of an Atari game. Frames are skipped and actions repeated on this side, so that the remote plays the
# version of the game that does neither.
_ATARI_NAME: Final = re.compile(r"([A-Z][A-Za-z0-9]*)-v5")
_REMOTE_NAME: Final = re.compile(r"gym-core\.([A-Z][A-Za-z0-9]*)NoFrameskip-v3")


def resolve(task_id: str) -> tuple[str, Config]:
    """Return the id of the remote's environment, one of ours or of EnvPool's Atari games, and its options' defaults."""
    if atari := _ATARI_NAME.fullmatch(task_id):
        return f"gym-core.{atari[1]}NoFrameskip-v3", ATARI
    if "." in task_id:
        return task_id, Config()
    raise ConfigurationError(
        f"there is no environment {task_id!r}; expected one of pluriverse's, such as gym-core.PongNoFrameskip-v3, or "
        "an Atari game by EnvPool's name, such as Pong-v5; list_all_envs() has all that are on this machine"
    )


def list_all_envs() -> list[str]:
    """Return all environments of this machine's runtimes and images, with EnvPool's names of the Atari games first.

    Raises:
        CatalogueError: a runtime failed to list its environments.
    """
    # Docker's client, which asks for images, takes longer to load than most scripts want to wait.
    from pluriverse.catalogue import environments

    ids = [str(entry["id"]) for entry in environments()]
    games = (_REMOTE_NAME.fullmatch(id_) for id_ in ids)
    return [f"{game[1]}-v5" for game in games if game] + ids
