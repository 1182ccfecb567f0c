"""``TimeStep``: what an environment returns at each step, and the functions that make one.

Step type and discount determine a step's place in an episode:

    FIRST  1  an episode begins; its reward is 0
    MID    1  the episode goes on
    LAST   0  the episode came to an outcome: no reward can follow
    LAST   1  the episode was cut off by a limit or a lost environment: rewards could have followed

An environment's own discount, above 0 and at most 1, takes the place of 1 in MID and LAST.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import tensors
from .tensor_specs import BoundedTensorSpec, TensorSpec
from .tensors import Nest, Tensor, tree

SCALAR_REWARD: Final = TensorSpec((), "float32", "reward")


class StepType:
    """Where in an episode a step is, int32."""

    FIRST: Final = np.int32(0)
    MID: Final = np.int32(1)
    LAST: Final = np.int32(2)


class TimeStep(NamedTuple):
    """One step of an environment, or of each of a batch: arrays, or tensors where the environment gives those.

    Attributes:
        step_type: int32, one of ``StepType``.
        reward: float32, of shape ``reward_spec().shape``; 0 in FIRST.
        discount: float32.
        observation: a nest like ``observation_spec()``.
        prev_action: the action that led here, a nest like ``action_spec()``; zeros in FIRST.
        env_id: int32, the index in the batch.
        untransformed: for algorithms that change steps and keep those they were given; environments leave it empty.
        env_info: a nest like ``env_info_spec()``.

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
        # Field by field, since most are single arrays: dm-tree takes its time over named tuples.
        return TimeStep(*map(_to_tensors, self))


def _to_tensors(arrays: Nest) -> Nest:
    return tree.map_structure(tensors.tensor, arrays) if tree.is_nested(arrays) else tensors.tensor(arrays)


def restart(
    observation: Nest,
    action_spec: Nest,
    reward_spec: TensorSpec = SCALAR_REWARD,
    env_id: int = 0,
    env_info: Nest = (),
) -> TimeStep:
    """Return an episode's first step."""
    prev_action = tree.map_structure(TensorSpec.numpy_zeros, action_spec)
    step = transition(observation, prev_action, reward_spec.numpy_zeros(), env_id=env_id, env_info=env_info)
    return step._replace(step_type=StepType.FIRST)


def transition(
    observation: Nest, prev_action: Nest, reward: ArrayLike, discount: float = 1.0, env_id: int = 0, env_info: Nest = ()
) -> TimeStep:
    """Return a step after which the episode goes on."""
    fields = (np.asarray(reward, np.float32), np.float32(discount), observation, prev_action, np.int32(env_id))
    return TimeStep(StepType.MID, *fields, env_info=env_info)


def termination(
    observation: Nest, prev_action: Nest, reward: ArrayLike, env_id: int = 0, env_info: Nest = ()
) -> TimeStep:
    """Return the last step of an episode that came to an outcome: its discount is 0."""
    return truncation(observation, prev_action, reward, 0.0, env_id, env_info)


def truncation(
    observation: Nest, prev_action: Nest, reward: ArrayLike, discount: float = 1.0, env_id: int = 0, env_info: Nest = ()
) -> TimeStep:
    """Return the last step of an episode that was cut off by a limit or a lost environment."""
    step = transition(observation, prev_action, reward, discount, env_id, env_info)
    return step._replace(step_type=StepType.LAST)


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
