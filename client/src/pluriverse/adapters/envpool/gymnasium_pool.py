"""EnvPool with Gymnasium's interface: five values a step, and an info with arrays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import Misuse, needed

from .config import Config, Connection, Rendering
from .pool import EnvPool
from .spec import ENV_ID, PLAYERS_ENV_ID

with needed("Gymnasium", extra="gymnasium"):
    from gymnasium import Env
    from gymnasium.vector import AutoresetMode, VectorEnv

if TYPE_CHECKING:

    class _Gymnasium:
        """Hides methods and attributes whose types differ from an EnvPool's."""

else:

    class _Gymnasium(VectorEnv, Env):
        """Wrappers ask for either of them."""


class GymnasiumEnvPool(EnvPool, _Gymnasium):
    """``reset`` returns (observations, info), ``step`` (observations, rewards, terminated, truncated, info)."""

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["rgb_array", "human"],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, env_id: str, config: Config, connection: Connection, rendering: Rendering) -> None:
        """See ``EnvPool``."""
        super().__init__(env_id, config, connection, rendering)
        self.observation_space: Any = self.spec.observation_space
        self.single_observation_space: Any = self.observation_space
        self.action_space: Any = self.spec.action_space
        self.single_action_space: Any = self.action_space

    @property
    def num_envs(self) -> int:
        """The number of environments."""
        return len(self)

    @property
    def is_vector_env(self) -> bool:
        """True."""
        return True

    @property
    def render_mode(self) -> str | None:
        """The mode given to ``make``."""
        return self._rendering.render_mode

    def reset(self, env_id: Any = None, *, seed: Any = None, options: Mapping[str, Any] | None = None) -> Any:
        """See ``EnvPool.reset``; ``options`` may have ``reset_mask``, bool of shape (num_envs,), instead of ``env_id``.

        Raises:
            Misuse: see ``EnvPool.reset``; or there is no such option, or the mask is invalid.
        """
        if seed is not None:
            warnings.warn("seeds are given to make(…, seed=…); reset(seed=…) is ignored", stacklevel=2)
        mask = self._masked(options or {})
        if mask is not None and env_id is not None:
            raise Misuse("env_id and options['reset_mask'] both say which environments; give one of them")
        return super().reset(env_id if mask is None else mask)

    def close(self, **kwargs: Any) -> None:
        """See ``EnvPool.close``; Gymnasium's options are ignored."""
        del kwargs
        super().close()

    def _masked(self, options: Mapping[str, Any]) -> NDArray[Any] | None:
        if unknown := sorted(options.keys() - {"reset_mask"}):
            raise Misuse(f"reset knows no options {', '.join(unknown)}; expected reset_mask")
        if options.get("reset_mask") is None:
            return None
        mask = np.asarray(options["reset_mask"])
        if mask.shape != (len(self),) or mask.dtype != np.bool_ or not mask.any():
            raise Misuse(f"reset_mask is {mask!r:.80}; expected a bool for each of {len(self)}, one True at least")
        return np.flatnonzero(mask)

    def _to(self, state: Mapping[str, NDArray[Any]], reset: bool) -> Any:
        truncated = state["trunc"]
        info: dict[str, Any] = {
            ENV_ID: state[f"info:{ENV_ID}"],
            "players": {ENV_ID: state[f"info:{PLAYERS_ENV_ID}"]},
            "lives": state["info:lives"],
            "reward": state["info:reward"],
            "terminated": state["info:terminated"],
            "lost": state["info:lost"],
            "elapsed_step": state["elapsed_step"],
            "TimeLimit.truncated": truncated.copy(),
        }
        if reset:
            return state["obs"], info
        return state["obs"], state["reward"], state["done"] > truncated, truncated, info
