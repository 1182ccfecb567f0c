"""The raw pool and its spec by EnvPool's names."""

from pluriverse.adapters.envpool.pool import RemotePool as _AtariEnvPool
from pluriverse.adapters.envpool.spec import EnvSpec as _AtariEnvSpec

__all__ = ["_AtariEnvPool", "_AtariEnvSpec"]
