"""Gymnasium's interface: one remote as an ``Env``, several as a ``VectorEnv``.

    import gymnasium, pluriverse
    env = gymnasium.make("pluriverse/gym-core.Pong-v3", remotes="local:1")

Importing this module registers the environments.
"""

from __future__ import annotations

import importlib.util

from pluriverse.adapters.registration import listed, register, register_environments
from pluriverse.errors import ConfigurationError

if importlib.util.find_spec("gymnasium") is None:
    raise ConfigurationError('Gymnasium isn\'t installed; install it with: pip install "pluriverse[gymnasium]"')

from .env import PluriverseEnv
from .gym_spaces import AnyText, Events
from .vector import PluriverseVectorEnv

__all__ = ["AnyText", "Events", "PluriverseEnv", "PluriverseVectorEnv", "register_environments"]

register(listed())
