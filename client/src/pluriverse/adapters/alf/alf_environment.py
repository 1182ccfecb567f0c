"""``AlfEnvironment``: the interface of every environment here."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from pluriverse import validation
from pluriverse.errors import Closed

from .data_structures import SCALAR_REWARD, TimeStep, time_step_spec
from .nest import Nest
from .tensor_specs import TensorSpec
from .tensors import Refused


@dataclass(frozen=True, slots=True)
class Description:
    """The constant description of an environment."""

    observation_spec: Nest
    action_spec: Nest
    reward_spec: TensorSpec = SCALAR_REWARD
    env_info_spec: Nest = field(default_factory=dict[str, Nest])
    num_tasks: int = 1
    task_names: list[str] = field(default_factory=list[str])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    batched: bool = False
    batch_size: int = 1
    is_tensor_based: bool = False

    @classmethod
    def of(cls, env: AlfEnvironment) -> Description:
        """Return the description of an environment."""
        parts = {each.name: getattr(env, each.name) for each in fields(cls)}
        return cls(**{name: part() if name.endswith("_spec") else part for name, part in parts.items()})

    @classmethod
    def of_all(cls, descriptions: Iterable[Description]) -> Description:
        """Return the description of environments that are alike and take arrays; refuse others."""
        every = list(descriptions)
        if not every:
            raise Refused("there are no environments; expected one or more")
        for number, each in enumerate(every):
            if each.is_tensor_based or (each.batched, each.batch_size) != (every[0].batched, every[0].batch_size):
                raise Refused(f"environment {number} gives tensors, or another batch than the first; expected arrays")
            if (own := each.time_step_spec) != (expected := every[0].time_step_spec):
                raise Refused(f"environment {number} has other specs than the first: {own}; expected {expected}")
        return every[0]

    @property
    def time_step_spec(self) -> TimeStep:
        """The specs of steps, with ``env_info``."""
        return time_step_spec(self.observation_spec, self.action_spec, self.reward_spec, self.env_info_spec)


_SINGLE: Final = Description(None, None)


class AlfEnvironment(abc.ABC):
    """One environment that takes and returns NumPy arrays, or a ``batched`` one, which takes and returns tensors.

    ``reset`` begins an episode. ``step`` acts; before the first ``reset``, and after a LAST step, it begins an episode
    instead and ignores its action. Authors write ``_reset`` and ``_step``, and give a description or write the specs.
    """

    _current_time_step: TimeStep | None = None
    _description = _SINGLE
    _closed = False

    def __init__(self, description: Description = _SINGLE) -> None:
        """``description``: specs and properties, unless they are overridden."""
        self._description = description

    @property
    def num_tasks(self) -> int:
        """Number of tasks."""
        return self._description.num_tasks

    @property
    def task_names(self) -> list[str]:
        """Name of each task."""
        return self._description.task_names or [str(task) for task in range(self.num_tasks)]

    @property
    def is_tensor_based(self) -> bool:
        """Whether it takes and returns tensors instead of arrays."""
        return self._description.is_tensor_based

    @property
    def batched(self) -> bool:
        """Whether actions and steps have a batch dimension in front; specs never have it."""
        return self._description.batched

    @property
    def batch_size(self) -> int:
        """Number of environments in the batch; raise ``Refused`` if only ``batched`` is overridden."""
        if self.batched and not self._description.batched:
            raise Refused(f"{type(self).__name__} is batched; its author must override batch_size too")
        return self._description.batch_size

    @property
    def _outer_dims(self) -> tuple[int, ...]:
        """Dimensions in front of those of the specs."""
        return (self.batch_size,) if self.batched else ()

    @property
    def metadata(self) -> dict[str, Any]:
        """Gymnasium's metadata, such as ``render_modes``."""
        return self._description.metadata

    def env_info_spec(self) -> Nest:
        """Return the specs of ``TimeStep.env_info``."""
        return self._description.env_info_spec

    def observation_spec(self) -> Nest:
        """Return the specs of observations."""
        return self._description.observation_spec

    def action_spec(self) -> Nest:
        """Return the specs of actions."""
        return self._description.action_spec

    def reward_spec(self) -> TensorSpec:
        """Return the spec of rewards: one float32, unless the environment says otherwise."""
        return self._description.reward_spec

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
        """Act and return the step that follows; raise ``ActionError`` unless ``action`` is as ``action_spec`` says."""
        if self._current_time_step is None:
            return self.reset()
        self._current_time_step = self._step(action)
        return self._current_time_step

    def sync_progress(self) -> None:
        """Tell environments in processes how far the training is; nothing here has a schedule."""
        return

    def seed(self, seed: Any) -> Any:
        """Seed the episodes that the next ``reset`` begins: an int, or one for each of a batch. Ignored by default."""
        return

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the picture, uint8 of shape (height, width, 3), or show it: ``"human"``; else raise ``Refused``."""
        raise Refused(f"{type(self).__name__} has no picture to render as {mode!r}")

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


def one_seed_each(seed: int | Sequence[int], n: int, what: str) -> list[int]:
    """Return the ``n`` seeds from ``seed`` on, or those given; refuse any other number of them."""
    given = validation.sequence(seed)
    first = validation.integer("seed", seed, 0) if given is None else 0
    seeds = [validation.integer("seed", each, 0) for each in (range(first, first + n) if given is None else given)]
    if len(seeds) != n:
        raise Refused(f"there are {len(seeds)} seeds for {n} {what}; expected one for each")
    return seeds
