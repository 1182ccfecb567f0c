"""The environments that come with pluriverse, in Gymnasium's registry, each as ``pluriverse/`` and its id.

Beside them are those that the files of this machine's other runtimes name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pluriverse.runtimes import local_runtimes, named_environments, runtime_of

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

NAMESPACE: Final = "pluriverse"

# Written by setup.py, of the runtimes beside it: an agent's machine doesn't have them, and asking them takes seconds.
_LIST: Final = Path(__file__).with_name("listed.txt")


def listed() -> list[str]:
    """Return the ids of all environments that come with pluriverse, sorted."""
    return _LIST.read_text().split()


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


def named() -> list[str]:
    """Return the ids of the environments that the files of this machine's other runtimes name; nothing is started."""
    shipped = {runtime_of(env_id) for env_id in listed()}
    own = (folder for runtime, folder in local_runtimes().items() if runtime not in shipped)
    return [env_id for folder in own for env_id in named_environments(folder)]


def register(env_ids: Iterable[str]) -> list[str]:
    """Register environments with Gymnasium, but those that are registered already; return Gymnasium's ids."""
    from gymnasium.envs.registration import registry

    specs = [gymnasium_spec(env_id) for env_id in env_ids]
    # Gymnasium's register() looks at the whole registry each time: twenty times slower for a thousand environments.
    for spec in specs:
        registry.setdefault(spec.id, spec)
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
