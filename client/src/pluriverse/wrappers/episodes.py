"""Wrappers that number and limit episodes."""

from __future__ import annotations

import time
from typing import Any

from pluriverse.env.base import Env, Step, Wrapper
from pluriverse.errors import ConfigurationError


class EpisodeID(Wrapper):
    """``info["n"][i]["vectorized.episode_id"]`` numbers the episodes of the whole vector.

    It is the number of the episode that the step's reward belongs to. At most ``limit`` episodes are numbered: later
    ones have None, and ``info["vectorized.finished"]`` is True once all numbered ones have ended.
    """

    def __init__(self, env: Env, limit: int | None = None) -> None:
        super().__init__(env)
        self._limit = limit
        self._next = 0
        self._ids: list[int | None] = []

    def reset(self) -> Any:
        observation_n = self.env.reset()
        self._ids = [self._take() for _ in range(self.n)]
        return observation_n

    def step(self, action_n: Any) -> Step:
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        for index, done in enumerate(done_n):
            info["n"][index]["vectorized.episode_id"] = self._ids[index]
            if done:
                self._ids[index] = self._take()
        info["vectorized.finished"] = all(id_ is None for id_ in self._ids)
        return observation_n, reward_n, done_n, info

    def _take(self) -> int | None:
        if self._limit is not None and self._next >= self._limit:
            return None
        self._next += 1
        return self._next - 1


class TimeLimit(Wrapper):
    """Truncates an index's episode so many steps, or seconds, after its first observation; the others go on.

    ``info["n"][i]`` then has ``truncated`` and ``TimeLimit.truncated``.
    """

    def __init__(self, env: Env, *, steps: int | None = None, seconds: float | None = None) -> None:
        """Set at least one limit, above 0; else a ``ConfigurationError`` is raised."""
        super().__init__(env)
        limits = [limit for limit in (steps, seconds) if limit is not None]
        if not limits or min(limits) <= 0:
            raise ConfigurationError(f"TimeLimit(steps={steps}, seconds={seconds}): expected at least one, above 0")
        self._steps = steps
        self._seconds = seconds
        self._lasted: list[int] = []
        self._began: list[float | None] = []

    def reset(self) -> Any:
        observation_n = self.env.reset()
        self._lasted = [0] * self.n
        self._began = [None] * self.n
        return observation_n

    def step(self, action_n: Any) -> Step:
        """See ``Env.step``; an episode over its limit ends with this step."""
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        now = time.monotonic()
        for index in range(self.n):
            self._lasted[index] += observation_n[index] is not None
            if observation_n[index] is not None and self._began[index] is None:
                self._began[index] = now
            if not done_n[index] and self._is_over(index, now):
                self.env.reset_one(index)
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
