"""EnvPool's interface over remotes: ``import pluriverse.adapters.envpool as envpool`` in place of ``import envpool``.

    env = envpool.make_gymnasium("Pong-v5", num_envs=4, batch_size=2, remotes="local:4")
    env.async_reset()
    while True:
        observations, rewards, terminated, truncated, info = env.recv()
        env.send(policy(observations), info["env_id"])

It behaves as EnvPool 1.2.5, except that time goes on between two calls. It adds ``info["lost"]`` and
``info["TimeLimit.truncated"]``, and has no ``info["ram"]``, which no screen shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pluriverse import remotes as remotes_module
from pluriverse.errors import ConfigurationError

from .arrays import Stacks
from .config import Config, Connection, Rendering, list_all_envs, read, resolve
from .pool import EnvPool, open_core
from .spec import ArraySpec, PoolSpec

if TYPE_CHECKING:
    from .dm_pool import DMEnvPool
    from .gymnasium_pool import GymnasiumEnvPool

__all__ = [
    "ArraySpec",
    "Config",
    "EnvPool",
    "PoolSpec",
    "list_all_envs",
    "make",
    "make_dm",
    "make_gym",
    "make_gymnasium",
    "make_spec",
]

ENV_TYPES: Final = ("dm", "gym", "gymnasium")


def make(task_id: str, env_type: str, **options: Any) -> DMEnvPool | GymnasiumEnvPool:
    """Make an EnvPool of remotes; blocks until they play.

    Args:
        task_id: an id of pluriverse, or an Atari game by EnvPool's name.
        env_type: ``"gym"``, ``"gymnasium"`` or ``"dm"``.
        options: EnvPool's, see ``Config``, and ``remotes``, ``actions``, ``crop`` and ``fps``, see ``Connection``.

    Raises:
        ConfigurationError: an option is unknown or out of range, or something is missing on this machine.
        RemoteUnavailable: a remote could not be started or reached.
    """
    if env_type == "dm":
        return make_dm(task_id, **options)
    if env_type in ENV_TYPES:
        return make_gymnasium(task_id, **options)
    raise ConfigurationError(f"env_type is {env_type!r}; expected one of {', '.join(ENV_TYPES)}")


def make_gymnasium(task_id: str, **options: Any) -> GymnasiumEnvPool:
    """Make an EnvPool with Gymnasium's interface; see ``make``."""
    from .gymnasium_pool import GymnasiumEnvPool

    return GymnasiumEnvPool(*_read(task_id, options))


make_gym = make_gymnasium


def make_dm(task_id: str, **options: Any) -> DMEnvPool:
    """Make an EnvPool with dm_env's interface; see ``make``."""
    from .dm_pool import DMEnvPool

    return DMEnvPool(*_read(task_id, options))


def make_spec(task_id: str, **options: Any) -> PoolSpec:
    """Return the spaces of an environment, as a remote describes it: one is started, or ``remotes`` says which.

    Raises:
        ConfigurationError: see ``make``.
        RemoteUnavailable: no remote could be started or reached.
    """
    env_id, config, connection, _ = _read(task_id, {"remotes": 1, "num_envs": 1, **options}, any_number=True)
    with open_core(env_id, config, connection) as core:
        return PoolSpec(config, core.actions, Stacks(1, config.stack_num, core.pictures.shape).shape)


def _read(
    task_id: str, options: dict[str, Any], *, any_number: bool = False
) -> tuple[str, Config, Connection, Rendering]:
    """Return the remote's environment and the checked options of a call, before any remote is started."""
    env_id, defaults = resolve(task_id)
    remotes = options.get("remotes")
    if isinstance(remotes, int | str):
        start_s = options.get("start_timeout_s", remotes_module.START_S)
        remotes = remotes_module.parse(remotes, env_id, start_timeout_s=start_s)
        options = {**options, "remotes": remotes}
    n = None if remotes is None or any_number else remotes.n
    return env_id, *read(task_id, defaults, n, options)
