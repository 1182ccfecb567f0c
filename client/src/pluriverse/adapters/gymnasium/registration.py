"""Our environments in Gymnasium's registry, each as ``pluriverse/`` and its id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gymnasium.envs.registration import EnvSpec, registry

from pluriverse.adapters.listed import listed

NAMESPACE: Final = "pluriverse"
_PACKAGE: Final = "pluriverse.adapters.gymnasium"


def spec_of(env_id: str) -> EnvSpec:
    """How Gymnasium makes one environment; plain data, which pickles and prints as JSON.

    It is ``nondeterministic``: the same seed begins the same episode, but time goes on while an agent thinks, so that
    the same actions come at other frames. Steps before a reset are refused without a wrapper's help, and the remote
    has its own limit of time.
    """
    return EnvSpec(
        f"{NAMESPACE}/{env_id}",
        entry_point=f"{_PACKAGE}:PluriverseEnv",
        vector_entry_point=f"{_PACKAGE}:PluriverseVectorEnv",
        nondeterministic=True,
        order_enforce=False,
        disable_env_checker=True,
        kwargs={"env_id": env_id},
    )


def register_listed() -> None:
    """Register what comes with pluriverse."""
    _register(listed())


def register_environments(runtime: str | None = None) -> list[str]:
    """Register what a runtime on this machine has, or all of them, and return its ids; for runtimes of one's own.

    What comes with pluriverse is registered by ``import pluriverse`` already. This asks the runtimes, which takes a
    second or more.

    Raises:
        CatalogueError: there is no such runtime, or it can't say what it has.
    """
    from pluriverse.catalogue import environments

    return _register(str(entry["id"]) for entry in environments(runtime))


def _register(env_ids: Iterable[str]) -> list[str]:
    specs = [spec_of(env_id) for env_id in env_ids]
    # Not register(), which goes through all that is there for each: twenty times slower for a thousand.
    for spec in specs:
        registry.setdefault(spec.id, spec)
    return [spec.id for spec in specs]
