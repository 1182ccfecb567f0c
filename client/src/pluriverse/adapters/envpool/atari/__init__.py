"""Atari by EnvPool's names."""

from pluriverse.adapters.envpool.env_pool import DMEnvPool, GymnasiumEnvPool
from pluriverse.adapters.envpool.spec import EnvSpec

__all__ = ["AtariDMEnvPool", "AtariEnvSpec", "AtariGymnasiumEnvPool"]


class AtariEnvSpec(EnvSpec):
    """See ``EnvSpec``."""


class AtariDMEnvPool(DMEnvPool):
    """See ``DMEnvPool``."""


class AtariGymnasiumEnvPool(GymnasiumEnvPool):
    """See ``GymnasiumEnvPool``."""
