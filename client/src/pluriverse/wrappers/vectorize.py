"""One environment out of a vector of one, and back."""

from __future__ import annotations

from typing import Any

from pluriverse.env.base import Wrapper
from pluriverse.errors import ConfigurationError


class Unvectorize(Wrapper):
    """A vector of one as a single environment: ``step(action)`` returns ``observation, reward, done, info``."""

    def configure(self, **options: Any) -> None:
        """Connect.

        Raises:
            ConfigurationError: there are more remotes than one.
        """
        super().configure(**options)
        self._require_one()

    def reset(self) -> Any:
        """Begin a new episode."""
        self._require_one()
        (observation,) = self.env.reset()
        return observation

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act (one action, not a list of them), and see."""
        (observation,), (reward,), (done,), info = self.env.step([action_n])
        shared = {key: value for key, value in info.items() if key != "n"}
        return observation, reward, done, {**shared, **info["n"][0]}

    def _require_one(self) -> None:
        if self.n != 1:
            raise ConfigurationError(f"Unvectorize is for one remote, there are {self.n}; use remotes=1")


class Vectorize(Wrapper):
    """A single environment as a vector of one."""

    def reset(self) -> Any:
        """Begin a new episode."""
        return [self.env.reset()]

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see."""
        (action,) = action_n
        observation, reward, done, info = self.env.step(action)
        return [observation], [reward], [done], {"n": [info]}
