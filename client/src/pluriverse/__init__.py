"""Drive many real-time environments on other machines through one agent interface.

env = pluriverse.make("gym-core.PongDeterministic-v3", remotes=4)
observation_n = env.reset()
observation_n, reward_n, done_n, info = env.step([[("KeyEvent", "ArrowRight", True)]] * env.n)
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .errors import (
    ActionError,
    Closed,
    ConfigurationError,
    Misuse,
    PluriverseError,
    RemoteError,
    RemoteFailed,
    RemoteMisbehaved,
    RemoteUnavailable,
    ResetNeeded,
)

if TYPE_CHECKING:
    from typing import Unpack

    from .env.vector import ConfigureOptions, VectorEnv
    from .remotes import RemoteManager

__all__ = [
    "ActionError",
    "Closed",
    "ConfigurationError",
    "Misuse",
    "PluriverseError",
    "RemoteError",
    "RemoteFailed",
    "RemoteMisbehaved",
    "RemoteUnavailable",
    "ResetNeeded",
    "make",
]


def make(
    env_id: str | None = None,
    remotes: int | str | RemoteManager | None = None,
    *,
    fps: float | None = None,
    **options: Unpack[ConfigureOptions],
) -> VectorEnv:
    """Make a vector of environments, and connect it to ``remotes`` if given.

    Args:
        env_id: such as ``"gym-core.Pong-v3"``; None: whatever the remotes play.
        remotes: how many to start, or where they run; see ``VectorEnv.configure``.
        fps: steps per second; None: the environment's own.
        options: further options of ``VectorEnv.configure``.

    Raises:
        ConfigurationError: an option is wrong, or something is missing on this machine.
        RemoteUnavailable: a remote could not be started or reached.
    """
    # Importing NumPy and the decoders takes most of the time, and isn't needed for the rest of this module.
    from .env.vector import VectorEnv

    env = VectorEnv(env_id, fps=fps)
    if remotes is not None:
        env.configure(remotes=remotes, **options)
    elif options:
        raise ConfigurationError(f"{', '.join(options)}: these configure remotes; name them with remotes=…")
    return env


# Gymnasium has no plugins: importing a package registers its environments. Importing Gymnasium takes several times as
# long as importing us, so those who import it later import pluriverse.adapters.gymnasium.
if sys.modules.get("gymnasium") is not None:
    from .adapters.registration import register
    from .runtimes import listed, named

    register([*listed(), *named()])
