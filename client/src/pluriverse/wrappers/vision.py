"""Observations that are pictures alone."""

from __future__ import annotations

from typing import Any

from pluriverse.env.base import Wrapper


class Vision(Wrapper):
    """Each observation is its picture, uint8 (height, width, 3), or None."""

    def reset(self) -> Any:
        """Begin new episodes everywhere."""
        return [_vision(observation) for observation in self.env.reset()]

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see."""
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        return [_vision(observation) for observation in observation_n], reward_n, done_n, info


def _vision(observation: Any) -> Any:
    return None if observation is None else observation["vision"]
