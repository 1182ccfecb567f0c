"""Ends episodes that have lasted long enough, and says that this is why."""

from __future__ import annotations

import time
from typing import Any

from pluriverse.env.base import Env, Wrapper
from pluriverse.errors import ConfigurationError


class TimeLimit(Wrapper):
    """Each index's episode ends after so many steps, or seconds, since its first observation.

    It is truncated: ``info["n"][i]`` has ``truncated`` and ``TimeLimit.truncated``. The others go on.
    """

    def __init__(self, env: Env, *, steps: int | None = None, seconds: float | None = None) -> None:
        """At least one limit.

        Raises:
            ConfigurationError: there is none, or one isn't above 0.
        """
        super().__init__(env)
        limits = [limit for limit in (steps, seconds) if limit is not None]
        if not limits or min(limits) <= 0:
            raise ConfigurationError(f"TimeLimit(steps={steps}, seconds={seconds}): expected at least one, above 0")
        self._steps = steps
        self._seconds = seconds
        self._lasted: list[int] = []
        self._began: list[float | None] = []

    def reset(self) -> Any:
        """Begin new episodes everywhere."""
        observation_n = self.env.reset()
        self._lasted = [0] * self.n
        self._began = [None] * self.n
        return observation_n

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see; an episode over its limit ends with this step."""
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        now = time.monotonic()
        for index in range(self.n):
            self._lasted[index] += observation_n[index] is not None
            if observation_n[index] is not None and self._began[index] is None:
                self._began[index] = now
            if not done_n[index] and self._is_over(index, now):
                self.env.truncate(index)
                observation_n[index], done_n[index] = None, True
                info["n"][index] |= {"terminated": False, "truncated": True, "TimeLimit.truncated": True}
                info["n"][index]["env_status.complete.episode_id"] = info["n"][index].get("env_status.episode_id")
            if done_n[index]:
                self._lasted[index] = 0
                self._began[index] = None
        return observation_n, reward_n, done_n, info

    def _is_over(self, index: int, now: float) -> bool:
        began = self._began[index]
        if self._steps is not None and self._lasted[index] >= self._steps:
            return True
        return self._seconds is not None and began is not None and now - began >= self._seconds
