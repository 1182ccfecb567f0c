"""``TimeStep``: what an environment returns at each step.

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

from . import tensors
from .tensors import Nest, Tensor, tree


class StepType:
    """Where in an episode a step is, int32."""

    FIRST: Final = np.int32(0)
    MID: Final = np.int32(1)
    LAST: Final = np.int32(2)


class TimeStep(NamedTuple):
    """One step of each environment of a batch, in tensors, which have the batch dimension in front.

    Attributes:
        step_type: int32, one of ``StepType``.
        reward: float32, of shape ``reward_spec().shape``; 0 in FIRST.
        discount: float32.
        observation: a nest like ``observation_spec()``.
        prev_action: the action that led here, a nest like ``action_spec()``; zeros in FIRST.
        env_id: int32, the index in the batch.
        untransformed: for algorithms that change steps and keep those they were given; environments leave it empty.
        env_info: a nest like ``env_info_spec()``.
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
        """Return whether an episode begins, bool, one for each of the batch."""
        return self.step_type == StepType.FIRST.item()

    def is_mid(self) -> Tensor:
        """Return whether an episode goes on, bool, one for each of the batch."""
        return self.step_type == StepType.MID.item()

    def is_last(self) -> Tensor:
        """Return whether an episode ends, bool, one for each of the batch."""
        return self.step_type == StepType.LAST.item()

    def to_tensors(self) -> TimeStep:
        """Return the step with tensors in place of arrays."""
        # Field by field, since most are single arrays: dm-tree takes its time over named tuples.
        return TimeStep(*map(_to_tensors, self))


def _to_tensors(arrays: Nest) -> Nest:
    return tree.map_structure(tensors.tensor, arrays) if tree.is_nested(arrays) else tensors.tensor(arrays)
