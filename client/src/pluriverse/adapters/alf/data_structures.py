"""``TimeStep``: what an environment gives at each step, and the only ways to make one.

The step type and the discount together say where in an episode it is:

    FIRST  1  the first of an episode; nothing was earned yet
    MID    1  the episode goes on
    LAST   0  an outcome: nothing can be earned any more
    LAST   1  a limit, or a lost environment: it could have gone on

An environment with a discount of its own, above 0 and at most 1, has that in place of the 1 of MID and LAST.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from pluriverse.errors import Misuse

from . import nest, tensors
from .tensor_specs import BoundedTensorSpec, TensorSpec

GOES_ON: Final = 1.0
OUTCOME: Final = 0.0

_SCALAR: Final = TensorSpec((), "float32", "reward")


class StepType:
    """Where in an episode a step is."""

    FIRST: Final = np.int32(0)
    MID: Final = np.int32(1)
    LAST: Final = np.int32(2)


class TimeStep(NamedTuple):
    """One step of an environment, or of each of a batch; arrays, or tensors where a batched environment gives it.

    ``step_type`` is int32, ``reward`` and ``discount`` are float32, ``observation`` is a nest as ``observation_spec``
    says, ``prev_action`` is the action that led here (zeros in FIRST), ``env_id`` is int32, the index in the batch.
    ``untransformed`` is for algorithms that change steps and want to keep what they were; environments leave it empty.
    ``env_info`` is a dict of whatever else is known, as ``env_info_spec`` says.
    """

    step_type: Any = ()
    reward: Any = ()
    discount: Any = ()
    observation: Any = ()
    prev_action: Any = ()
    env_id: Any = ()
    untransformed: Any = ()
    env_info: Any = ()

    def is_first(self) -> Any:
        """Whether it is an episode's first; one truth value for each of a batch."""
        return self.step_type == StepType.FIRST.item()

    def is_mid(self) -> Any:
        """Whether it is neither an episode's first nor its last."""
        return self.step_type == StepType.MID.item()

    def is_last(self) -> Any:
        """Whether it is an episode's last."""
        return self.step_type == StepType.LAST.item()

    def to_tensors(self) -> TimeStep:
        """With tensors in place of arrays."""
        return nest.map_structure(tensors.chosen().tensor, self)

    def to_arrays(self) -> TimeStep:
        """With arrays in place of tensors."""
        return nest.map_structure(tensors.as_array, self)


def restart(
    observation: nest.Nest,
    action_spec: nest.Nest,
    reward_spec: TensorSpec = _SCALAR,
    env_id: Any = None,
    env_info: nest.Nest = None,
    batched: bool = False,
) -> TimeStep:
    """An episode's first step. ``batched``: all arrays have a batch dimension in front; ``env_id`` None counts them."""
    outer_dims = np.shape(_first_leaf(observation))[:1] if batched else ()

    def zeros(spec: TensorSpec) -> Any:
        return spec.numpy_zeros(outer_dims)

    prev_action = nest.map_structure(zeros, action_spec)
    return _make(StepType.FIRST, observation, prev_action, zeros(reward_spec), reward_spec, GOES_ON, env_id, env_info)


def transition(
    observation: nest.Nest,
    prev_action: nest.Nest,
    reward: Any,
    reward_spec: TensorSpec = _SCALAR,
    discount: Any = GOES_ON,
    env_id: Any = None,
    env_info: nest.Nest = None,
) -> TimeStep:
    """A step after which the episode goes on; batched if ``reward`` has a dimension more than ``reward_spec``.

    Raises:
        Misuse: the discount isn't above 0 and at most 1.
    """
    return _make(StepType.MID, observation, prev_action, reward, reward_spec, discount, env_id, env_info)


def termination(
    observation: nest.Nest,
    prev_action: nest.Nest,
    reward: Any,
    reward_spec: TensorSpec = _SCALAR,
    env_id: Any = None,
    env_info: nest.Nest = None,
) -> TimeStep:
    """The last step of an episode that came to an outcome: its discount is 0."""
    return _make(StepType.LAST, observation, prev_action, reward, reward_spec, OUTCOME, env_id, env_info)


def truncation(
    observation: nest.Nest,
    prev_action: nest.Nest,
    reward: Any,
    reward_spec: TensorSpec = _SCALAR,
    discount: Any = GOES_ON,
    env_id: Any = None,
    env_info: nest.Nest = None,
) -> TimeStep:
    """The last step of an episode that could have gone on: a limit, or a lost environment.

    Raises:
        Misuse: the discount isn't above 0 and at most 1; 0 would be an outcome.
    """
    if not (tensors.as_array(discount) > 0).all():
        raise Misuse(f"the discount of a truncated episode is {discount!r:.80}; expected above 0, or a termination")
    return _make(StepType.LAST, observation, prev_action, reward, reward_spec, discount, env_id, env_info)


def _make(
    step_type: Any,
    observation: nest.Nest,
    prev_action: nest.Nest,
    reward: Any,
    reward_spec: TensorSpec,
    discount: Any,
    env_id: Any,
    env_info: nest.Nest,
) -> TimeStep:
    array = tensors.as_array
    rewards = np.asarray(array(reward), np.float32)
    outer_dims = rewards.shape[: rewards.ndim - reward_spec.ndim]
    if len(outer_dims) > 1 or rewards.shape != (*outer_dims, *reward_spec.shape):
        raise Misuse(f"the reward has shape {rewards.shape}; expected {reward_spec.shape}, or that behind a batch's")
    counted = np.arange(int(outer_dims[0])) if outer_dims else 0
    made = check(
        TimeStep(
            np.full(outer_dims, step_type, np.int32),
            rewards,
            np.broadcast_to(np.asarray(array(discount), np.float32), outer_dims).copy(),
            observation,
            prev_action,
            np.asarray(array(counted if env_id is None else env_id), np.int32),
            env_info={} if env_info is None else env_info,
        )
    )
    return made.to_tensors() if tensors.is_torch(_first_leaf(observation)) else made


def check(time_step: TimeStep) -> TimeStep:
    """The same step, whose step types and discounts go together; of a batch each of them does.

    Raises:
        Misuse: they don't; says the rule.
    """
    array = tensors.as_array
    step_type, discount = array(time_step.step_type), array(time_step.discount)
    if step_type.shape != discount.shape:
        raise Misuse(f"there are step types of shape {step_type.shape} and discounts of {discount.shape}")
    first, mid, last = (step_type == kind for kind in (StepType.FIRST, StepType.MID, StepType.LAST))
    # Written so that it isn't fulfilled by NaN either.
    valid = (first & (discount == GOES_ON)) | (mid & (discount > 0) & (discount <= 1))
    valid |= last & (discount >= 0) & (discount <= 1)
    if not valid.all():
        raise Misuse(
            f"step types {step_type.tolist()!r:.80} have discounts {discount.tolist()!r:.80}; expected 1 in FIRST, "
            "above 0 and at most 1 in MID, and in LAST 0 for an outcome, else the same as in MID"
        )
    return time_step


def time_step_spec(
    observation_spec: nest.Nest, action_spec: nest.Nest, reward_spec: TensorSpec, env_info_spec: nest.Nest = ()
) -> TimeStep:
    """The specs of a step, in the places of what they describe."""
    return TimeStep(
        step_type=BoundedTensorSpec((), "int32", StepType.FIRST, StepType.LAST, "step_type"),
        reward=reward_spec,
        discount=BoundedTensorSpec((), "float32", 0, 1, "discount"),
        observation=observation_spec,
        prev_action=action_spec,
        env_id=TensorSpec((), "int32", "env_id"),
        env_info=env_info_spec,
    )


def _first_leaf(observation: nest.Nest) -> Any:
    leaves = nest.flatten(observation)
    if not leaves:
        raise Misuse("the observation has no arrays; expected at least one")
    return leaves[0]
