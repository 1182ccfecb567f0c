"""``AlfEnvironment``: the interface of every environment here."""

from __future__ import annotations

import abc
from typing import Any, Self

from pluriverse.errors import Closed, ConfigurationError

from .data_structures import SCALAR_REWARD, TimeStep, time_step_spec
from .tensor_specs import TensorSpec
from .tensors import Nest


class AlfEnvironment(abc.ABC):
    """One environment that takes and returns NumPy arrays, or a ``batched`` one, which takes and returns tensors.

    ``reset`` begins an episode. ``step`` acts; before the first ``reset``, and after a LAST step, it begins an episode
    instead and ignores its action. Authors give the specs, and write ``_reset`` and ``_step``.
    """

    _current_time_step: TimeStep | None = None
    _closed = False

    def __init__(
        self,
        observation_spec: Nest,
        action_spec: Nest,
        reward_spec: TensorSpec = SCALAR_REWARD,
        env_info_spec: Nest = (),
        metadata: dict[str, Any] | None = None,
        batch_size: int | None = None,
    ) -> None:
        """``metadata``: Gymnasium's, such as ``render_modes``; ``batch_size`` None is no batch."""
        self._observation_spec = observation_spec
        self._action_spec = action_spec
        self._reward_spec = reward_spec
        self._env_info_spec = env_info_spec
        self.metadata: dict[str, Any] = metadata or {}
        self.batched = batch_size is not None
        self.batch_size = batch_size or 1
        self.is_tensor_based = self.batched

    def observation_spec(self) -> Nest:
        """Return the specs of observations, without a batch dimension."""
        return self._observation_spec

    def action_spec(self) -> Nest:
        """Return the specs of actions, without a batch dimension."""
        return self._action_spec

    def reward_spec(self) -> TensorSpec:
        """Return the spec of rewards."""
        return self._reward_spec

    def env_info_spec(self) -> Nest:
        """Return the specs of ``TimeStep.env_info``."""
        return self._env_info_spec

    def time_step_spec(self) -> TimeStep:
        """Return the specs of steps. As in ALF, ``env_info`` is left out; see ``env_info_spec``."""
        return time_step_spec(self.observation_spec(), self.action_spec(), self.reward_spec())

    def current_time_step(self) -> TimeStep:
        """Return the last step; begin an episode if there was none."""
        return self.reset() if self._current_time_step is None else self._current_time_step

    def reset(self) -> TimeStep:
        """Begin an episode and return its FIRST step."""
        self._current_time_step = self._reset()
        return self._current_time_step

    def step(self, action: Nest) -> TimeStep:
        """Act and return the next step; raise ``ActionError`` unless ``action`` matches ``action_spec``."""
        if self._current_time_step is None:
            return self.reset()
        self._current_time_step = self._step(action)
        return self._current_time_step

    def seed(self, seed: Any) -> Any:
        """Seed the episodes that the next ``reset`` begins: an int, or one for each of a batch. Ignored by default."""
        return

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the picture, uint8 of shape (height, width, 3), or show it: ``"human"``."""
        raise ConfigurationError(f"{type(self).__name__} can't render as {mode!r}")

    def get_info(self) -> Any:
        """Return all that is known of the last step, also what is no number: a dict, or a list of one for each."""
        return {}

    def close(self) -> None:
        """Release all resources; may be called repeatedly."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._closed:
            raise Closed("this environment is closed")

    @abc.abstractmethod
    def _reset(self) -> TimeStep:
        """Begin an episode."""

    @abc.abstractmethod
    def _step(self, action: Nest) -> TimeStep:
        """Act; after a LAST step, begin an episode instead."""
