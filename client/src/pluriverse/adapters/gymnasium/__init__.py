"""Environments in Gymnasium's interface: one remote as an ``Env``, several as a ``VectorEnv``.

``import pluriverse`` is enough for ``gymnasium.make("pluriverse/gym-core.Pong-v3", remotes="local:1")``; see
``hook`` and ``registration``. What is here is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pluriverse.errors import ConfigurationError

if TYPE_CHECKING:
    from .env import PluriverseEnv
    from .registration import register_environments
    from .spaces import AnyText, Events
    from .vector import PluriverseVectorEnv

__all__ = ["AnyText", "Events", "PluriverseEnv", "PluriverseVectorEnv", "register_environments"]

_MODULES: Final = {
    "AnyText": "spaces",
    "Events": "spaces",
    "PluriverseEnv": "env",
    "PluriverseVectorEnv": "vector",
    "register_environments": "registration",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    import importlib.util

    if importlib.util.find_spec("gymnasium") is None:
        raise ConfigurationError('Gymnasium isn\'t installed; install it with: pip install "pluriverse[gymnasium]"')
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
