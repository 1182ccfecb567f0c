"""``TimeStep``: what an environment returns at each step, and the functions that make one; wrong ones are ``Refused``.

Step type and discount together say where in an episode a step is:

    FIRST  1  an episode begins; its reward is 0
    MID    1  the episode goes on
    LAST   0  the episode came to an outcome: no reward can follow
    LAST   1  the episode was cut off by a limit or a lost environment: rewards could have followed

An environment's own discount, above 0 and at most 1, takes the place of 1 in MID and LAST.
"""

from __future__ import annotations

import collections
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import nest, tensors
from .nest import Nest
from .tensor_specs import BoundedTensorSpec, TensorSpec
from .tensors import Refused, Tensor

GOES_ON: Final = 1.0
OUTCOME: Final = 0.0

SCALAR_REWARD: Final = TensorSpec((), "float32", "reward")


def namedtuple(
    typename: str, field_names: str | Sequence[str], default_value: Any = None, default_values: Any = ()
) -> type[Any]:
    """Return a class of named tuples whose fields have defaults, by position or by name, and else ``default_value``.

    Names may be one string, with commas or spaces between them.
    """
    names = field_names.replace(",", " ").split() if isinstance(field_names, str) else field_names
    given: Any = default_values
    if not isinstance(default_values, Mapping):
        given = dict(zip(names, default_values, strict=False))
    defaults = [given.get(name, default_value) for name in names]
    # Such classes can be pickled only by the name of the module that made them.
    module = sys._getframe(1).f_globals.get("__name__", "__main__")  # pyright: ignore[reportPrivateUsage]
    make: Any = collections.namedtuple
    return make(typename, names, defaults=defaults, module=module)


class StepType:
    """Where in an episode a step is, int32."""

    FIRST: Final = np.int32(0)
    MID: Final = np.int32(1)
    LAST: Final = np.int32(2)

    def __new__(cls, value: Any) -> Any:
        """Return the one of this number."""
        if value not in (0, 1, 2):
            raise Refused(f"there is no step type {value!r:.80}; expected 0, 1 or 2")
        return np.int32(value)


class TimeStep(NamedTuple):
    """One step of an environment, or of each of a batch: arrays, or tensors where the environment gives those.

    Attributes:
        step_type: int32, one of ``StepType``.
        reward: float32, of shape ``reward_spec().shape``; 0 in FIRST.
        discount: float32.
        observation: a nest as ``observation_spec()`` says.
        prev_action: the action that led here, a nest as ``action_spec()`` says; zeros in FIRST.
        env_id: int32, the index in the batch.
        untransformed: for algorithms that change steps and keep the originals; environments leave it empty.
        env_info: a dict as ``env_info_spec()`` says.

    In a batch each array has the batch dimension in front.
    """

    step_type: Tensor = ()
    reward: Tensor = ()
    discount: Tensor = ()
    observation: Nest = ()
    prev_action: Nest = ()
    env_id: Tensor = ()
    untransformed: Nest = ()
    env_info: Nest = ()

    def is_first(self) -> Tensor:
        """Return whether an episode begins, bool; one for each of a batch."""
        return self.step_type == StepType.FIRST.item()

    def is_mid(self) -> Tensor:
        """Return whether an episode goes on, bool; one for each of a batch."""
        return self.step_type == StepType.MID.item()

    def is_last(self) -> Tensor:
        """Return whether an episode ends, bool; one for each of a batch."""
        return self.step_type == StepType.LAST.item()

    def to_tensors(self) -> TimeStep:
        """Return the step with tensors in place of arrays."""
        tensor = tensors.chosen().tensor
        # Field by field, since most are single arrays, or empty: dm-tree takes its time over named tuples.
        return TimeStep(
            *(() if isinstance(field, tuple) and not field else nest.map_structure(tensor, field) for field in self)
        )

    def to_arrays(self) -> TimeStep:
        """Return the step with arrays in place of tensors."""
        return nest.map_structure(tensors.as_array, self)

    def cpu(self) -> TimeStep:
        """Return the step with torch's tensors in the computer's own memory."""
        return nest.map_structure(lambda leaf: leaf.cpu() if tensors.is_torch(leaf) else leaf, self)

    def cuda(self) -> TimeStep:
        """Return the step with torch's tensors in the memory of the graphics card."""
        return nest.map_structure(lambda leaf: leaf.cuda() if tensors.is_torch(leaf) else leaf, self)


AlgStep = namedtuple("AlgStep", ["output", "state", "info"], default_value=())
LossInfo = namedtuple("LossInfo", ["loss", "scalar_loss", "extra", "priority", "gns", "batch_label"], default_value=())


class Experience(NamedTuple):
    """A step with what an agent did at it; it has the fields of its ``time_step`` too."""

    time_step: Any = ()
    action: Nest = ()
    rollout_info: Nest = ()
    state: Nest = ()
    batch_info: Any = ()
    replay_buffer: Any = ()
    rollout_info_field: Any = ()

    def __getattr__(self, name: str) -> Any:
        """Return a field or a method of the step."""
        if name.startswith("_"):
            raise AttributeError(f"Experience has no attribute {name!r}")
        return getattr(self.time_step, name)

    def get_time_step_field(self, field: str) -> Nest:
        """Return a part of the step by its path."""
        return nest.get_field(self.time_step, field)

    def update_time_step_field(self, field: str, new_value: Nest) -> Experience:
        """Return the same with another part of the step."""
        return self._replace(time_step=nest.set_field(self.time_step, field, new_value))


def make_experience(time_step: TimeStep, alg_step: Any, state: Nest) -> Experience:
    """Return a step with the ``AlgStep`` that an algorithm made of it, and the state before."""
    return Experience(time_step, alg_step.output, alg_step.info, state)


def restart(
    observation: Nest,
    action_spec: Nest,
    reward_spec: TensorSpec = SCALAR_REWARD,
    env_id: ArrayLike | None = None,
    env_info: Nest = None,
    batched: bool = False,
) -> TimeStep:
    """Return an episode's first step. ``batched``: all arrays have a batch dimension; ``env_id`` None counts them."""
    outer_dims = tuple(nest.get_nest_shape(observation)[:1]) if batched else ()
    prev_action = nest.map_structure(lambda spec: spec.numpy_zeros(outer_dims), action_spec)
    reward = reward_spec.numpy_zeros(outer_dims)
    return with_type(
        StepType.FIRST, transition(observation, prev_action, reward, reward_spec, GOES_ON, env_id, env_info)
    )


def transition(
    observation: Nest,
    prev_action: Nest,
    reward: Tensor,
    reward_spec: TensorSpec = SCALAR_REWARD,
    discount: Tensor = GOES_ON,
    env_id: ArrayLike | None = None,
    env_info: Nest = None,
) -> TimeStep:
    """Return a step after which the episode goes on; batched if ``reward`` has one dimension more than its spec."""
    rewards = np.asarray(tensors.as_array(reward), np.float32)
    outer_dims = rewards.shape[: rewards.ndim - reward_spec.ndim]
    if len(outer_dims) > 1 or rewards.shape != (*outer_dims, *reward_spec.shape):
        raise Refused(f"the reward has shape {rewards.shape}; expected {reward_spec.shape}, or that behind a batch's")
    if env_id is None:
        env_id = np.arange(int(outer_dims[0])) if outer_dims else 0
    made = TimeStep(
        np.full(outer_dims, StepType.MID, np.int32),
        rewards,
        np.broadcast_to(np.asarray(tensors.as_array(discount), np.float32), outer_dims).copy(),
        observation,
        prev_action,
        np.asarray(tensors.as_array(env_id), np.int32),
        env_info={} if env_info is None else env_info,
    )
    return check(made.to_tensors() if tensors.is_torch(nest.extract_any_leaf_from_nest(observation)) else made)


def termination(
    observation: Nest,
    prev_action: Nest,
    reward: Tensor,
    reward_spec: TensorSpec = SCALAR_REWARD,
    env_id: ArrayLike | None = None,
    env_info: Nest = None,
) -> TimeStep:
    """Return the last step of an episode that came to an outcome: its discount is 0."""
    step = transition(observation, prev_action, reward, reward_spec, GOES_ON, env_id, env_info)
    return with_type(StepType.LAST, step._replace(discount=step.discount * OUTCOME))


def truncation(
    observation: Nest,
    prev_action: Nest,
    reward: Tensor,
    reward_spec: TensorSpec = SCALAR_REWARD,
    discount: Tensor = GOES_ON,
    env_id: ArrayLike | None = None,
    env_info: Nest = None,
) -> TimeStep:
    """Return the last step of an episode that was cut off by a limit or a lost environment."""
    step = transition(observation, prev_action, reward, reward_spec, discount, env_id, env_info)
    return with_type(StepType.LAST, step)


def with_type(step_type: np.int32, time_step: TimeStep) -> TimeStep:
    """Return the same step or batch as one of another type."""
    return time_step._replace(step_type=time_step.step_type * 0 + step_type.item())


def check(time_step: TimeStep) -> TimeStep:
    """Return the same step or batch; raise ``Refused`` unless each step type and its discount go together."""
    step_type, discount = tensors.as_array(time_step.step_type), tensors.as_array(time_step.discount)
    if step_type.shape != discount.shape:
        raise Refused(f"there are step types of shape {step_type.shape} and discounts of {discount.shape}")
    # Comparisons with NaN are false, so that it is refused.
    valid = (discount >= 0) & (discount <= 1)
    valid &= (discount > 0) | (step_type == StepType.LAST)
    valid &= (discount == GOES_ON) | (step_type != StepType.FIRST)
    if not (valid & (step_type >= StepType.FIRST) & (step_type <= StepType.LAST)).all():
        raise Refused(
            f"step types {step_type.tolist()!r:.80} have discounts {discount.tolist()!r:.80}; expected 1 in FIRST, "
            "above 0 and at most 1 in MID, and in LAST 0 for an outcome, else the same as in MID"
        )
    return time_step


def check_discount(discount: float) -> float:
    """Return the same discount; raise ``Refused`` unless it is above 0 and at most 1."""
    if not 0 < discount <= 1:
        raise Refused(f"the discount is {discount!r}; expected above 0 and at most 1")
    return discount


def time_step_spec(
    observation_spec: Nest, action_spec: Nest, reward_spec: TensorSpec, env_info_spec: Nest = ()
) -> TimeStep:
    """Return a ``TimeStep`` with the specs of its fields."""
    return TimeStep(
        step_type=BoundedTensorSpec((), "int32", StepType.FIRST, StepType.LAST, "step_type"),
        reward=reward_spec,
        discount=BoundedTensorSpec((), "float32", 0, 1, "discount"),
        observation=observation_spec,
        prev_action=action_spec,
        env_id=TensorSpec((), "int32", "env_id"),
        env_info=env_info_spec,
    )
