"""Observations cut down to where the game is."""

from __future__ import annotations

from typing import Any, Final

from pluriverse.env.base import Env, Wrapper

# Where gym-core draws Atari, in pixels: x, y, width, height.
ATARI: Final = (0, 0, 160, 210)


class CropObservation(Wrapper):
    """``vision`` is the part ``box`` of the picture: x, y, width, height in pixels; if not given, gym-core's Atari."""

    def __init__(self, env: Env, box: tuple[int, int, int, int] = ATARI) -> None:
        super().__init__(env)
        self._box = box

    def reset(self) -> Any:
        """Begin new episodes everywhere."""
        return [self._crop(observation) for observation in self.env.reset()]

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see."""
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        return [self._crop(observation) for observation in observation_n], reward_n, done_n, info

    def _crop(self, observation: Any) -> Any:
        if observation is None or observation["vision"] is None:
            return observation
        x, y, width, height = self._box
        return {**observation, "vision": observation["vision"][y : y + height, x : x + width]}
