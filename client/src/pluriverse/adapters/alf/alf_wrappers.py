"""Wrappers of environments; those of Gymnasium's environments are in ``gym_wrappers``."""

from __future__ import annotations

from typing import Any

from pluriverse import validation
from pluriverse.errors import ConfigurationError

from .alf_environment import AlfEnvironment
from .data_structures import StepType, TimeStep
from .tensors import Nest


class AlfEnvironmentBaseWrapper(AlfEnvironment):
    """Pass everything on to the environment within; wrappers override what they change."""

    def __init__(self, env: AlfEnvironment) -> None:
        specs = (env.observation_spec(), env.action_spec(), env.reward_spec(), env.env_info_spec())
        super().__init__(*specs, env.metadata, env.batch_size if env.batched else None)
        self._env = env

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._env, name)

    def wrapped_env(self) -> AlfEnvironment:
        """Return the environment within."""
        return self._env

    def seed(self, seed: Any) -> Any:
        """Seed the episodes that the next ``reset`` begins."""
        return self._env.seed(seed)

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the picture, or show it."""
        return self._env.render(mode)

    def get_info(self) -> Any:
        """Return all that is known of the last step."""
        return self._env.get_info()

    def close(self) -> None:
        """Close what is within."""
        self._env.close()

    def _reset(self) -> TimeStep:
        return self._env.reset()

    def _step(self, action: Nest) -> TimeStep:
        return self._env.step(action)


class TimeLimit(AlfEnvironmentBaseWrapper):
    """End each episode ``duration`` steps after its FIRST with a LAST step, whose discount stays what it was."""

    def __init__(self, env: AlfEnvironment, duration: int) -> None:
        super().__init__(env)
        if validation.integer("duration", duration, 1) and env.batched:
            raise ConfigurationError("this is a batch; wrap each environment, or pass max_episode_steps when making it")
        self.duration = duration
        self._steps = 0

    def _reset(self) -> TimeStep:
        self._steps = 0
        return super()._reset()

    def _step(self, action: Nest) -> TimeStep:
        if self.current_time_step().is_last():
            return self.reset()
        time_step = super()._step(action)
        self._steps += 1
        return time_step._replace(step_type=StepType.LAST) if self._steps >= self.duration else time_step
