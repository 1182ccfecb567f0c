"""``AlfEnvironment``: what every environment of ALF's interface does."""

from __future__ import annotations

import abc
from types import TracebackType
from typing import Any, Self

from pluriverse.errors import Misuse

from . import nest
from .data_structures import TimeStep, time_step_spec
from .tensor_specs import TensorSpec


class AlfEnvironment(abc.ABC):
    """One environment that takes and gives NumPy's arrays, or a ``batched`` one, which takes and gives tensors.

    ``reset`` begins an episode. ``step`` acts; before the first ``reset``, and after a LAST step, it begins an episode
    instead and passes over its action. Authors write ``_reset``, ``_step`` and the specs.
    """

    def __init__(self) -> None:
        self._current_time_step: TimeStep | None = None

    @property
    def num_tasks(self) -> int:
        """How many tasks there are to do in it."""
        return 1

    @property
    def task_names(self) -> list[str]:
        """What they are called."""
        return [str(task) for task in range(self.num_tasks)]

    @property
    def is_tensor_based(self) -> bool:
        """Whether it takes and gives tensors instead of arrays."""
        return False

    @property
    def batched(self) -> bool:
        """Whether actions and steps have a batch dimension in front; the specs never have it."""
        return False

    @property
    def batch_size(self) -> int:
        """How many environments it is.

        Raises:
            Misuse: it is batched, and its author forgot to say.
        """
        if self.batched:
            raise Misuse(f"{type(self).__name__} is batched; its author must override batch_size too")
        return 1

    @property
    def metadata(self) -> dict[str, Any]:
        """What else there is to know, as Gymnasium has it."""
        return {}

    @abc.abstractmethod
    def env_info_spec(self) -> nest.Nest:
        """The specs of ``TimeStep.env_info``."""

    @abc.abstractmethod
    def observation_spec(self) -> nest.Nest:
        """The specs of observations."""

    @abc.abstractmethod
    def action_spec(self) -> nest.Nest:
        """The specs of actions."""

    def reward_spec(self) -> TensorSpec:
        """The spec of rewards: one float32, unless overridden."""
        return TensorSpec((), "float32", "reward")

    def time_step_spec(self) -> TimeStep:
        """The specs of steps. As in ALF, ``env_info`` is left out; ``env_info_spec`` has it."""
        return time_step_spec(self.observation_spec(), self.action_spec(), self.reward_spec())

    def current_time_step(self) -> TimeStep:
        """The last step; begins an episode if there was none."""
        return self.reset() if self._current_time_step is None else self._current_time_step

    def reset(self) -> TimeStep:
        """Begin an episode; its first step."""
        self._current_time_step = self._reset()
        return self._current_time_step

    def step(self, action: nest.Nest) -> TimeStep:
        """Act, and see what comes of it.

        Raises:
            ActionError: it isn't an action as ``action_spec`` says.
        """
        if self._current_time_step is None:
            return self.reset()
        self._current_time_step = self._step(action)
        return self._current_time_step

    def seed(self, seed: Any) -> None:
        """Seed what comes after the next ``reset``. One in which nothing is random passes over it."""
        return

    def render(self, mode: str = "rgb_array") -> Any:
        """Its picture, uint8 of shape (height, width, 3); or show it, where ``mode`` is ``"human"``.

        Raises:
            Misuse: this environment has no pictures.
        """
        raise Misuse(f"{type(self).__name__} has no picture to render as {mode!r}")

    def get_info(self) -> Any:
        """All that is known of the last step, also what is no number; a list of dicts where it is batched."""
        return {}

    def close(self) -> None:
        """Let go of everything; may be called repeatedly."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abc.abstractmethod
    def _reset(self) -> TimeStep:
        """Begin an episode."""

    @abc.abstractmethod
    def _step(self, action: nest.Nest) -> TimeStep:
        """Act; after a LAST step, begin an episode instead."""
