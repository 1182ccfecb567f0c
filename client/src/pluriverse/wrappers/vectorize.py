"""A vector of one as a single environment, and back."""

from __future__ import annotations

from typing import Any

from pluriverse.env.base import Step, Wrapper
from pluriverse.errors import ConfigurationError


class Unvectorize(Wrapper):
    """A vector of one as a single environment: ``step(action)`` returns ``observation, reward, done, info``."""

    def configure(self, **options: Any) -> None:
        """See ``VectorEnv.configure``; raise ``ConfigurationError`` if there is more than one remote."""
        super().configure(**options)
        self._require_one()

    def reset(self) -> Any:
        """Begin a new episode; return an observation."""
        self._require_one()
        (observation,) = self.env.reset()
        return observation

    def step(self, action_n: Any) -> Step:
        """Take one action; return ``observation, reward, done, info``."""
        (observation,), (reward,), (done,), info = self.env.step([action_n])
        shared = {key: value for key, value in info.items() if key != "n"}
        return observation, reward, done, {**shared, **info["n"][0]}

    def _require_one(self) -> None:
        if self.n != 1:
            raise ConfigurationError(f"Unvectorize needs one remote, got {self.n}; use remotes=1")


class Vectorize(Wrapper):
    def reset(self) -> Any:
        return [self.env.reset()]

    def step(self, action_n: Any) -> Step:
        (action,) = action_n
        observation, reward, done, info = self.env.step(action)
        return [observation], [reward], [done], {"n": [info]}
