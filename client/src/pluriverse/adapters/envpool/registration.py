"""What environments there are, by EnvPool's names, and how they are made."""

from __future__ import annotations

from typing import Any, Final

from pluriverse_protocol.atari import MINIMAL_ACTIONS

from pluriverse.errors import ConfigurationError

from .config import Config
from .env_pool import DMEnvPool, EnvPool, GymnasiumEnvPool
from .spec import EnvSpec

_INTERFACES: Final[dict[str, type[EnvPool]]] = {
    "dm": DMEnvPool,
    "gym": GymnasiumEnvPool,
    "gymnasium": GymnasiumEnvPool,
}

# EnvPool's names of the Atari games, and their ROMs.
_ATARI: Final = {f"{''.join(word.capitalize() for word in rom.split('_'))}-v5": rom for rom in sorted(MINIMAL_ACTIONS)}

# The options of our own environments: a picture of each frame, as it is drawn.
_AS_IT_IS: Final[dict[str, Any]] = {
    **dict.fromkeys(("stack_num", "frame_skip"), 1),
    **dict.fromkeys(("img_height", "img_width")),
    **dict.fromkeys(("use_fire_reset", "gray_scale"), False),
    "noop_max": 0,
}

# What ``Config.connection`` may have: ``clock`` and, in lockstep, ``slots``; and options of ``pluriverse.make``.
_CONNECTION: Final = frozenset(
    ("start_timeout_s", "replace_on_crash", "vnc", "action_probes", "probe_keysym", "env_options", "clock", "slots")
)


def make(task_id: str, env_type: str, **kwargs: Any) -> Any:
    """Make an EnvPool of remotes; blocks until they play.

    Args:
        task_id: an id of pluriverse, or an Atari game by EnvPool's name.
        env_type: ``"gym"``, ``"gymnasium"`` or ``"dm"``.
        kwargs: EnvPool's options and ours, see ``Config``; those of ``connection`` are given by their own names.

    Raises:
        ConfigurationError: an option is unknown or out of range, or something is missing on this machine.
        RemoteUnavailable: a remote could not be started or reached.
    """
    if env_type not in list(_INTERFACES):
        raise ConfigurationError(f"env_type is {env_type!r}; expected one of {', '.join(_INTERFACES)}")
    return _INTERFACES[env_type](make_spec(task_id, **kwargs))


def make_dm(task_id: str, **kwargs: Any) -> Any:
    """Make an EnvPool with dm_env's interface; see ``make``."""
    return make(task_id, "dm", **kwargs)


def make_gymnasium(task_id: str, **kwargs: Any) -> Any:
    """Make an EnvPool with Gymnasium's interface; see ``make``."""
    return make(task_id, "gymnasium", **kwargs)


make_gym = make_gymnasium


def make_spec(task_id: str, **kwargs: Any) -> EnvSpec:
    """Return the spaces of an environment. Atari's are known; of others a remote is asked once they are.

    Raises:
        ConfigurationError: see ``make``.
    """
    known = {*Config._fields, *_CONNECTION} - {"task", "connection"}
    if unknown := sorted(kwargs.keys() - known):
        raise ConfigurationError(f"unknown option {', '.join(unknown)}; expected some of {', '.join(sorted(known))}")
    options = {name: value for name, value in kwargs.items() if name not in _CONNECTION}
    connection = {name: value for name, value in kwargs.items() if name in _CONNECTION}
    config = Config(**{**_defaults(task_id), **options}, connection=connection)
    manager = config.manager()
    if manager is not None and "num_envs" not in options:
        config = config._replace(num_envs=manager.n)
    return EnvSpec(config._replace(remotes=manager))


def list_all_envs() -> list[str]:
    """Return the Atari games by EnvPool's names, then all environments of this machine's runtimes and images.

    Raises:
        CatalogueError: a runtime failed to list its environments.
    """
    # Docker's client, which asks for images, takes longer to load than most scripts want to wait.
    from pluriverse.catalogue import environments

    return [*_ATARI, *(str(entry["id"]) for entry in environments())]


def _defaults(task_id: Any) -> dict[str, Any]:
    if task_id in list(_ATARI):
        return {"task": _ATARI[task_id], "max_episode_steps": 27000}
    if isinstance(task_id, str) and "." in task_id:
        return {"task": task_id, **_AS_IT_IS}
    raise ConfigurationError(
        f"task_id is {task_id!r:.80}; expected an environment of pluriverse's, such as gym-core.PongNoFrameskip-v3, or "
        "an Atari game by EnvPool's name, such as Pong-v5; list_all_envs() has all that are on this machine"
    )
