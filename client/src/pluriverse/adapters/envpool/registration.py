"""What environments there are, by EnvPool's names, and how they are made."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from .config import CONNECTION, Config
from .errors import WrongOption
from .spec import EnvSpec

INTERFACES: Final = {"dm": "dm", "gym": "gymnasium", "gymnasium": "gymnasium"}


class _Entry(NamedTuple):
    import_path: str
    spec: str
    pools: dict[str, str]
    options: dict[str, Any]


# The options of our own environments: a picture of each frame, as it is drawn.
_AS_IT_IS: Final = {
    "stack_num": 1,
    "frame_skip": 1,
    "noop_max": 0,
    "use_fire_reset": False,
    "img_height": None,
    "img_width": None,
    "gray_scale": False,
}

_entries: Final[dict[str, _Entry]] = {}


def register(
    task_id: str,
    import_path: str,
    spec_cls: str,
    dm_cls: str,
    gymnasium_cls: str,
    aliases: Sequence[str] = (),
    **kwargs: Any,
) -> None:
    """Register an environment: the module and the names of its classes, and the options that differ from ``Config``'s.

    Raises:
        ConfigurationError: there is one of that name.
    """
    for name in (task_id, *aliases):
        if name in _entries:
            raise WrongOption(f"there is an environment {name!r} already")
        _entries[name] = _Entry(import_path, spec_cls, {"dm": dm_cls, "gymnasium": gymnasium_cls}, kwargs)


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
    if env_type not in list(INTERFACES):
        raise WrongOption(f"env_type is {env_type!r}; expected one of {', '.join(INTERFACES)}")
    entry = _find(task_id)
    pool = getattr(import_module(entry.import_path), entry.pools[INTERFACES[env_type]])
    return pool(make_spec(task_id, **kwargs))


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
    entry = _find(task_id)
    spec: Any = getattr(import_module(entry.import_path), entry.spec)
    known = {*spec.gen_config._fields, *CONNECTION} - {"task", "connection"}
    if unknown := sorted(kwargs.keys() - known):
        raise WrongOption(f"there is no option {', '.join(unknown)}; expected some of {', '.join(sorted(known))}")
    options = entry.options | {name: value for name, value in kwargs.items() if name not in CONNECTION}
    connection = {name: kwargs[name] for name in CONNECTION if name in kwargs}
    config: Config = spec.gen_config(**options, **({"connection": connection} if connection else {}))
    manager = config.manager()
    if manager is not None and "num_envs" not in options:
        config = config._replace(num_envs=manager.n)
    return spec(config._replace(remotes=manager))


def list_all_envs() -> list[str]:
    """Return all environments that are registered, then those of this machine's runtimes and images.

    Raises:
        CatalogueError: a runtime failed to list its environments.
    """
    # Docker's client, which asks for images, takes longer to load than most scripts want to wait.
    from pluriverse.catalogue import environments

    return [*_entries, *(str(entry["id"]) for entry in environments())]


def _find(task_id: str) -> _Entry:
    if not isinstance(task_id, str):  # pyright: ignore[reportUnnecessaryIsInstance] - agents do
        raise WrongOption(f"task_id is {task_id!r:.80}; expected the name of an environment, such as 'Pong-v5'")
    if task_id in _entries:
        return _entries[task_id]
    if "." in task_id:
        pools = {"dm": "DMEnvPool", "gymnasium": "GymnasiumEnvPool"}
        return _Entry(__package__ or "", "EnvSpec", pools, {"task": task_id, **_AS_IT_IS})
    raise WrongOption(
        f"there is no environment {task_id!r}; expected one of pluriverse's, such as gym-core.PongNoFrameskip-v3, or "
        "an Atari game by EnvPool's name, such as Pong-v5; list_all_envs() has all that are on this machine"
    )
