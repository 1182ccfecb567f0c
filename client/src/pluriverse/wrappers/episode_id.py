"""Numbers episodes through all environments of a vector."""

from __future__ import annotations

from typing import Any

from pluriverse.env.base import Env, Wrapper


class EpisodeID(Wrapper):
    """``info["n"][i]["vectorized.episode_id"]`` is the number of the episode that the step's reward belongs to.

    With a ``limit`` no more than so many are begun: indices whose episode would be a later one have None there, and
    ``info["vectorized.finished"]`` is True once all that were begun have ended.
    """

    def __init__(self, env: Env, limit: int | None = None) -> None:
        super().__init__(env)
        self._limit = limit
        self._next = 0
        self._ids: list[int | None] = []

    def reset(self) -> Any:
        """Begin new episodes everywhere."""
        observation_n = self.env.reset()
        self._ids = [self._take() for _ in range(self.n)]
        return observation_n

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see."""
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
