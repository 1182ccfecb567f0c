"""Gymnasium's interface: one remote as an ``Env``, several as a ``VectorEnv``.

    import gymnasium, pluriverse
    env = gymnasium.make("pluriverse/gym-core.Pong-v3", remotes="local:1")

Importing this module registers the environments.
"""

from __future__ import annotations

from pluriverse.adapters.registration import register, register_environments
from pluriverse.errors import needed
from pluriverse.runtimes import listed, named

with needed("Gymnasium", extra="gymnasium"):
    from .env import PluriverseEnv
    from .gym_spaces import AnyText, Events
    from .vector import PluriverseVectorEnv

__all__ = ["AnyText", "Events", "PluriverseEnv", "PluriverseVectorEnv", "register_environments"]

register([*listed(), *named()])
