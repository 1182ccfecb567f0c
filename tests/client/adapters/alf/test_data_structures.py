"""``TimeStep`` and the ways to make one."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pluriverse.adapters.alf import nest, tensors
from pluriverse.adapters.alf.data_structures import (
    AlgStep,
    Experience,
    StepType,
    TimeStep,
    check,
    make_experience,
    namedtuple,
    restart,
    termination,
    time_step_spec,
    transition,
    truncation,
)
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec
from pluriverse.errors import Misuse

each_library = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
ACTION = {"move": BoundedTensorSpec((), "int64", 0, 3), "aim": BoundedTensorSpec((2,), "float32", -1, 1)}
OBSERVATION = TensorSpec((5,), "float32")
DISCOUNTS = st.sampled_from([0.0, 0.5, 0.99, 1.0, -0.5, 1.5, np.nan, np.inf])


def an_action(outer_dims: tuple[int, ...] = ()) -> Any:
    return nest.map_structure(lambda spec: spec.numpy_sample(outer_dims), ACTION)


def test_there_are_eight_fields() -> None:
    assert TimeStep._fields == (
        "step_type",
        "reward",
        "discount",
        "observation",
        "prev_action",
        "env_id",
        "untransformed",
        "env_info",
    )
    assert TimeStep().untransformed == ()


def test_step_types_are_made_of_their_numbers() -> None:
    assert [StepType(number) for number in (0, 1, 2)] == [StepType.FIRST, StepType.MID, StepType.LAST]
    with pytest.raises(ValueError, match="no step type 3"):
        StepType(3)


Pair = namedtuple("Pair", ["a", "b"], default_value=())


def test_named_tuples_have_defaults_and_can_be_pickled() -> None:
    assert Pair(b=1) == ((), 1)
    assert namedtuple("Named", ["a", "b"], None, {"b": 3})() == (None, 3)
    assert namedtuple("Placed", ["a", "b"], 1, [5])() == (5, 1)
    assert namedtuple("Listed", "a, b c")(1, 2, 3)._fields == ("a", "b", "c")
    assert type(pickle.loads(pickle.dumps(Pair(1, 2)))) is Pair  # noqa: S301 - our own


def test_experience_has_its_steps_fields() -> None:
    step = restart(OBSERVATION.numpy_zeros(), ACTION, env_id=4)
    experience = make_experience(step, AlgStep(output=1, info=2), state=3)
    assert (experience.action, experience.rollout_info, experience.state, experience.replay_buffer) == (1, 2, 3, ())
    assert experience.is_first()
    assert experience.env_id == experience.get_time_step_field("env_id") == 4
    changed = experience.update_time_step_field("prev_action.move", 7)
    assert (changed.prev_action["move"], experience.prev_action["move"]) == (7, 0)
    with pytest.raises(AttributeError, match="_hidden"):
        _ = Experience()._hidden


def test_steps_move_to_the_computers_own_memory() -> None:
    step = restart(OBSERVATION.numpy_zeros(), ACTION)
    assert step.to_tensors().cpu().observation.tolist() == step.cpu().observation.tolist() == [0] * 5


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
    assert mid.env_info == {}
    for step in (first, mid, outcome, limit):
        dtypes = [np.asarray(part).dtype for part in (step.step_type, step.reward, step.discount, step.env_id)]
        assert dtypes == [np.int32, np.float32, np.float32, np.int32]


@each_library
@given(st.lists(st.tuples(st.integers(0, 2), DISCOUNTS), min_size=1, max_size=4))
def test_only_discounts_that_fit_their_step_types_pass(parts: list[tuple[int, float]]) -> None:
    step = TimeStep(np.array([kind for kind, _ in parts]), discount=np.array([discount for _, discount in parts]))
    fits = all(_fits(kind, discount) for kind, discount in parts)
    for each in (step, step.to_tensors()):
        if fits:
            assert check(each) is each
        else:
            with pytest.raises(Misuse, match="expected 1 in FIRST"):
                check(each)


def _fits(kind: int, discount: float) -> bool:
    if kind == StepType.FIRST:
        return discount == 1
    return (0 <= discount <= 1) if kind == StepType.LAST else (0 < discount <= 1)


@each_library
@given(st.integers(1, 4), DISCOUNTS)
def test_constructors_make_batches_and_check_them(n: int, discount: float) -> None:
    observation, action, reward = OBSERVATION.numpy_zeros((n,)), an_action((n,)), np.arange(n)
    assert restart(observation, ACTION, batched=True).env_id.tolist() == list(range(n))
    for make in (transition, truncation):
        if 0 < discount <= 1:
            step = make(observation, action, reward, discount=discount)
            assert step.discount.tolist() == [np.float32(discount)] * n
            assert step.step_type.shape == step.reward.shape == step.env_id.shape == (n,)
        else:
            with pytest.raises(Misuse, match="discount"):
                make(observation, action, reward, discount=discount)
    assert termination(observation, action, reward).discount.tolist() == [0] * n


def test_steps_of_tensors_stay_tensors(library: str) -> None:
    tensor = tensors.chosen().tensor
    step = transition(tensor(np.zeros((2, 5), np.float32)), tensor(np.zeros(2, np.int64)), tensor(np.ones(2)))
    assert type(step.reward).__module__ == library
    assert tensors.dtype_name(step.reward.dtype) == "float32"
    assert step.env_id.tolist() == [0, 1]


def test_vector_rewards_are_no_batch() -> None:
    spec = TensorSpec((3,), "float32")
    assert transition(OBSERVATION.numpy_zeros(), an_action(), np.zeros(3), spec).step_type.shape == ()
    assert restart(OBSERVATION.numpy_zeros(), ACTION, spec).reward.tolist() == [0, 0, 0]
    with pytest.raises(Misuse, match="reward has shape"):
        transition(OBSERVATION.numpy_zeros(), an_action(), np.zeros((2, 2)), spec)


def test_observation_without_arrays_is_refused() -> None:
    with pytest.raises(Misuse, match="no arrays"):
        restart({}, ACTION, batched=True)


def test_specs_stand_where_the_values_do() -> None:
    spec = time_step_spec(OBSERVATION, ACTION, TensorSpec(()), {})
    step = restart(OBSERVATION.numpy_zeros(), ACTION)
    nest.map_structure(lambda part, value: part.contains(value) or pytest.fail(f"{part}"), spec, step)
    assert step.to_tensors().to_arrays().observation.tolist() == [0] * 5
