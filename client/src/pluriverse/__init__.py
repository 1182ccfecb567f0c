"""The agent's end of pluriverse: many real-time environments on other machines, in the API that an agent speaks.

env = pluriverse.make("gym-core.PongDeterministic-v3", remotes=4)
observation_n = env.reset()
observation_n, reward_n, done_n, info = env.step([[("KeyEvent", "ArrowUp", True)]] * env.n)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .adapters.gymnasium import hook as _gymnasium
from .errors import (
    ActionError,
    Closed,
    ConfigurationError,
    Misuse,
    PluriverseError,
    RemoteError,
    RemoteFailed,
    RemoteUnavailable,
    ResetNeeded,
)

if TYPE_CHECKING:
    from .env.vector import VectorEnv
    from .remotes import RemoteManager

__all__ = [
    "ActionError",
    "Closed",
    "ConfigurationError",
    "Misuse",
    "PluriverseError",
    "RemoteError",
    "RemoteFailed",
    "RemoteUnavailable",
    "ResetNeeded",
    "make",
]


def make(
    env_id: str | None = None,
    remotes: int | str | RemoteManager | None = None,
    *,
    fps: float | None = None,
    **options: Any,
) -> VectorEnv:
    """An environment; configured, if ``remotes`` says which. The options are ``VectorEnv.configure``'s.

    Raises:
        ConfigurationError: what is asked for can't be had here; says what mends it.
        RemoteUnavailable: a remote could not be started or reached.
    """
    # Reading the decoders and NumPy takes longer than all else; whoever only wants an error class doesn't wait for it.
    from .env.vector import VectorEnv

    env = VectorEnv(env_id, fps=fps)
    if remotes is not None:
        env.configure(remotes=remotes, **options)
    elif options:
        raise ConfigurationError(f"{', '.join(options)}: these configure remotes; say which with remotes=…")
    return env


# So that gymnasium.make("pluriverse/…") works after importing us; whoever doesn't import Gymnasium doesn't pay for it.
_gymnasium.install()
