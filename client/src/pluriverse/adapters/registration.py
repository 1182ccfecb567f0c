"""The environments that come with pluriverse, in Gymnasium's registry, each as ``pluriverse/`` and its id.

Beside them are those that the files of this machine's other runtimes name.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NoReturn

from pluriverse.errors import ConfigurationError

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

NAMESPACE: Final = "pluriverse"


def gymnasium_spec(env_id: str) -> EnvSpec:
    """Return what Gymnasium needs to make an environment; it can be pickled and written as JSON.

    The environment is ``nondeterministic``: time goes on while an agent thinks, so that the same actions come at other
    frames. One that is made with ``clock="lockstep"`` says in its own spec whether it is. Gymnasium's wrappers for time
    limits and for steps before a reset are left out: the remote does both.
    """
    from gymnasium.envs.registration import EnvSpec

    package = "pluriverse.adapters.gymnasium"
    return EnvSpec(
        f"{NAMESPACE}/{env_id}",
        entry_point=f"{package}:PluriverseEnv",
        vector_entry_point=f"{package}:PluriverseVectorEnv",
        nondeterministic=True,
        order_enforce=False,
        disable_env_checker=True,
        kwargs={"env_id": env_id},
    )


def name_prefix(env_id: str, **_: Any) -> NoReturn:
    """Suggest Gymnasium's name of an environment that was requested by its plain id."""
    raise ConfigurationError(f"Gymnasium's ids begin with {NAMESPACE}/ (did you mean {NAMESPACE}/{env_id}?)")


def register(env_ids: Iterable[str]) -> list[str]:
    """Register environments with Gymnasium, but those that are registered already; return Gymnasium's ids.

    Gymnasium would only report ids without ``pluriverse/`` as unknown; they are registered as errors.
    """
    from gymnasium.envs.registration import registry

    env_ids = list(env_ids)
    specs = [gymnasium_spec(env_id) for env_id in env_ids]
    # Gymnasium's register() looks at the whole registry each time: twenty times slower for a thousand environments.
    for env_id, spec in zip(env_ids, specs, strict=True):
        registry.setdefault(spec.id, spec)
        registry.setdefault(env_id, unprefixed := copy.copy(spec))
        unprefixed.entry_point = unprefixed.vector_entry_point = f"{__name__}:{name_prefix.__name__}"
    return [spec.id for spec in specs]


def register_environments(runtime: str | None = None) -> list[str]:
    """Register the environments of one runtime on this machine, or of all; return Gymnasium's ids.

    Only needed where an id is in none of a runtime's files: a catalogue's script says it, or the runtime is an image.
    Asks the runtimes, which takes seconds.

    Raises:
        CatalogueError: there is no such runtime, or it failed to list its environments.
    """
    from pluriverse.catalogue import environments

    return register(str(entry["id"]) for entry in environments(runtime))
