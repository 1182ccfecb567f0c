"""Wrappers of Gymnasium's environments, for ``AlfGymWrapper``."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from pluriverse import validation
from pluriverse.errors import needed

with needed("Gymnasium", extra="alf"):
    import gymnasium
    from gymnasium.wrappers import FrameStackObservation, RescaleAction, TransformObservation

Env = gymnasium.Env[Any, Any]


class FrameStack(TransformObservation[Any, Any, Any]):
    """Join the last ``stack_size`` frames, the newest last; an episode begins with that many of its first."""

    def __init__(
        self, env: Env, stack_size: int = 4, channel_order: Literal["channels_first", "channels_last"] = "channels_last"
    ) -> None:
        """Join arrays along their channels, which are the first or the last dimension."""
        axes = {"channels_first": 0, "channels_last": -1}
        join: Any = partial(np.concatenate, axis=axes[validation.choice("channel_order", channel_order, axes)])
        box: Any = env.observation_space
        low, high = join([box.low] * stack_size), join([box.high] * stack_size)
        stacked = gymnasium.spaces.Box(low, high, dtype=box.dtype.type)
        super().__init__(FrameStackObservation(env, stack_size), join, stacked)


class FrameSkip(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Repeat each action for ``skip`` steps, or until the episode ends, and add up the rewards."""

    def __init__(self, env: Env, skip: int) -> None:
        super().__init__(env)
        self._skip = validation.integer("skip", skip, 1)

    def step(self, action: Any) -> Any:
        """Repeat an action; ``info["num_env_frames"]`` is how often."""
        earned = 0.0
        for frames in range(1, self._skip + 1):
            observation, reward, terminated, truncated, info = self.env.step(action)
            earned += float(reward)
            if terminated or truncated or frames == self._skip:
                return observation, earned, terminated, truncated, {**info, "num_env_frames": frames}
        raise AssertionError


class NormalizedAction(RescaleAction[Any, Any, Any]):
    """Take continuous actions of -1 to 1 in place of their own bounds."""

    def __init__(self, env: Env) -> None:
        super().__init__(env, np.float32(-1), np.float32(1))
