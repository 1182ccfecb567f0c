"""What environments there are, by EnvPool's names, and how they are made."""

from __future__ import annotations

from typing import Any, Final

from pluriverse import validation
from pluriverse.env.vector import ConfigureOptions
from pluriverse.errors import ConfigurationError

from .config import GAMES, Config
from .env_pool import DMEnvPool, EnvPool, GymnasiumEnvPool
from .spec import EnvSpec

_INTERFACES: Final[dict[str, type[EnvPool]]] = {
    "dm": DMEnvPool,
    "gym": GymnasiumEnvPool,
    "gymnasium": GymnasiumEnvPool,
}

# The Atari games by EnvPool's names.
_ATARI: Final = {f"{name}-v5": rom for rom, name in GAMES.items()}

# The options of our own environments: a picture of each frame, as it is drawn.
_AS_IT_IS: Final[dict[str, Any]] = {
    **dict.fromkeys(("stack_num", "frame_skip"), 1),
    **dict.fromkeys(("img_height", "img_width")),
    **dict.fromkeys(("use_fire_reset", "gray_scale"), False),
    "noop_max": 0,
}

_OPTIONS: Final = frozenset(Config._fields) - {"task", "connection"}
_CONNECTION: Final = frozenset(("clock", "slots", *ConfigureOptions.__annotations__))


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
    return _INTERFACES[validation.choice("env_type", env_type, _INTERFACES)](make_spec(task_id, **kwargs))


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
    if unknown := sorted(kwargs.keys() - _OPTIONS - _CONNECTION):
        expected = ", ".join(sorted(_OPTIONS | _CONNECTION))
        raise ConfigurationError(f"unknown option {', '.join(unknown)}; expected some of {expected}")
    connection = {name: kwargs.pop(name) for name in kwargs.keys() & _CONNECTION}
    return EnvSpec(Config(**{**_defaults(task_id), **kwargs}, connection=connection))


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
