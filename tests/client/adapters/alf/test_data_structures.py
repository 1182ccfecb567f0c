"""``TimeStep`` and the ways to make one."""

from __future__ import annotations

from typing import Any

import numpy as np
from pluriverse.adapters.alf.data_structures import (
    restart,
    termination,
    transition,
    truncation,
)
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec
from pluriverse.adapters.alf.tensors import tree

ACTION = {"move": BoundedTensorSpec((), "int64", 0, 3), "aim": BoundedTensorSpec((2,), "float32", -1, 1)}
OBSERVATION = TensorSpec((5,), "float32")


def an_action() -> Any:
    return tree.map_structure(BoundedTensorSpec.numpy_sample, ACTION)


def test_the_four_kinds_of_steps() -> None:
    observation = OBSERVATION.numpy_zeros()
    first = restart(observation, ACTION, env_id=4, env_info={"lives": np.int32(3)})
    mid = transition(observation, an_action(), 1.0)
    outcome = termination(observation, an_action(), 2.0)
    limit = truncation(observation, an_action(), 2.0)
    kinds = [(int(step.step_type), float(step.discount)) for step in (first, mid, outcome, limit)]
    assert kinds == [(0, 1), (1, 1), (2, 0), (2, 1)]
    assert [(s.is_first(), s.is_mid(), s.is_last()) for s in (first, mid, limit)] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    assert first.env_id == 4
    assert first.env_info == {"lives": 3}
    assert first.prev_action["aim"].tolist() == [0, 0]
    for step in (first, mid, outcome, limit):
        dtypes = [np.asarray(part).dtype for part in (step.step_type, step.reward, step.discount, step.env_id)]
        assert dtypes == [np.int32, np.float32, np.float32, np.int32]


def test_arrays_become_tensors(library: str) -> None:
    step = restart(OBSERVATION.numpy_zeros(), ACTION).to_tensors()
    assert {type(leaf).__module__ for leaf in tree.flatten(step)} == {library}
    assert step.prev_action["aim"].tolist() == [0, 0]
