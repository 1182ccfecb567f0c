"""Wrappers that change observations."""

from __future__ import annotations

from typing import Any, Final

from pluriverse.env.base import Env, ObservationWrapper

# Where gym-core draws Atari, in pixels: x, y, width, height.
ATARI: Final = (0, 0, 160, 210)


class CropObservation(ObservationWrapper):
    """``vision`` is the part ``box`` of the picture: x, y, width, height in pixels; by default gym-core's Atari."""

    def __init__(self, env: Env, box: tuple[int, int, int, int] = ATARI) -> None:
        super().__init__(env)
        self._box = box

    def observation(self, observation: Any) -> Any:
        if observation["vision"] is None:
            return observation
        x, y, width, height = self._box
        return {**observation, "vision": observation["vision"][y : y + height, x : x + width]}


class Vision(ObservationWrapper):
    """Each observation is its picture, uint8 (height, width, 3), or None."""

    def observation(self, observation: Any) -> Any:
        return observation["vision"]
