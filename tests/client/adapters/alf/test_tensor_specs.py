"""Specs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec, as_action, concat_specs
from pluriverse.errors import ActionError, ConfigurationError

SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, max_side=3)
INTEGERS = st.sampled_from(["int8", "int32", "int64", "uint8", "bool"])
FLOATS = st.sampled_from(["float32", "float64"])
# The library is the same in all examples.
each_library = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@st.composite
def bounded_specs(draw: Any) -> BoundedTensorSpec:
    shape = draw(SHAPES)
    bound_shape = draw(st.sampled_from([(), shape]))
    if draw(st.booleans()):
        dtype = draw(INTEGERS)
        limits: tuple[int, int] = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        elements: Any = st.booleans() if dtype == "bool" else st.integers(*limits)
    else:
        dtype = draw(FLOATS)
        elements = st.floats(allow_nan=False, width=32 if dtype == "float32" else 64)
    one = draw(arrays.arrays(dtype, bound_shape, elements=elements))
    other = draw(arrays.arrays(dtype, bound_shape, elements=elements))
    return BoundedTensorSpec(shape, dtype, np.minimum(one, other), np.maximum(one, other))


@each_library
@given(bounded_specs(), st.sampled_from([(), (2,), (2, 3)]), st.integers(0, 2**32))
def test_what_a_spec_samples_it_contains(spec: BoundedTensorSpec, outer_dims: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    sample = spec.sample(outer_dims, rng)
    assert sample.shape == (*outer_dims, *spec.shape)
    assert sample.dtype == spec.dtype
    # Open-ended ones stay finite, but a bound may be infinity itself.
    assert spec.contains(sample, outer_dims)
    assert not spec.contains(sample, (7, *outer_dims))


@each_library
@given(bounded_specs())
def test_specs_survive_pickling_and_equal_only_their_like(spec: BoundedTensorSpec) -> None:
    again = pickle.loads(pickle.dumps(spec))  # noqa: S301 - our own
    assert again == spec
    assert hash(again) == hash(spec)
    assert spec != TensorSpec(spec.shape, spec.dtype_str)
    assert TensorSpec(spec.shape, spec.dtype_str) != spec
    assert spec != BoundedTensorSpec((*spec.shape, 1), spec.dtype_str, 0, 0)


def test_bounds_are_compared_as_they_are_broadcast() -> None:
    assert BoundedTensorSpec((2,), "int64", 0, [3, 3]) == BoundedTensorSpec((2,), "int64", [0, 0], 3)
    assert BoundedTensorSpec((2,), "int64", 0, [3, 4]) != BoundedTensorSpec((2,), "int64", 0, 3)


def test_spec_says_what_tensors_look_like(library: str) -> None:
    spec = TensorSpec([2, 3], "uint8", "camera")
    assert (spec.shape, spec.ndim, spec.numel, spec.dtype_str) == ((2, 3), 2, 6, "uint8")
    assert spec.is_discrete
    assert not spec.is_bounded()
    assert type(spec.dtype).__module__.partition(".")[0] == library
    assert TensorSpec((2, 3), spec.dtype) == spec
    assert repr(spec) == "TensorSpec((2, 3), 'uint8', name='camera')"
    assert TensorSpec((2, 3), "float32").is_continuous


def test_constants_are_of_the_spec() -> None:
    spec = BoundedTensorSpec((2,), "int32", 0, 9)
    assert spec.zeros((3,)).tolist() == [[0, 0]] * 3
    assert spec.ones().tolist() == [1, 1]
    assert spec.constant(7).tolist() == [7, 7]
    assert spec.contains(spec.constant(9))
    assert not spec.contains(spec.constant(10))
    assert not spec.contains(np.zeros(2, np.int64))


def test_drawn_tensors_follow_numpys_seed() -> None:
    spec, bounded = TensorSpec((4, 5), "float32"), BoundedTensorSpec((2,), "int64", 0, [9, 99])
    runs: list[Any] = []
    for _ in range(2):
        np.random.seed(7)
        uniform, normal = spec.rand(), spec.randn([3])
        assert tuple(normal.shape) == (3, 4, 5)
        assert 0 <= uniform.min() <= uniform.max() < 1
        runs.append([each.tolist() for each in (uniform, normal, bounded.sample(), bounded.numpy_sample(None))])
    assert runs[0] == runs[1]


@each_library
@given(bounded_specs(), st.integers(0, 2**32 - 1))
def test_old_generators_of_numpys_draw_too(spec: BoundedTensorSpec, seed: int) -> None:
    one, other = (spec.numpy_sample((3,), np.random.RandomState(seed)) for _ in range(2))
    assert spec.contains(one, (3,))
    assert np.array_equal(one, other)


def test_specs_are_made_of_others() -> None:
    spec = BoundedTensorSpec((2,), "int64", 0, 9, "keys")
    assert TensorSpec.from_spec(spec) == TensorSpec((2,), "int64")
    assert BoundedTensorSpec.from_spec(spec) == spec
    assert spec.replace(maximum=3) == BoundedTensorSpec((2,), "int64", 0, 3)
    assert spec.replace((), "float32").name == "keys"
    assert TensorSpec((2,)).replace(dtype="uint8") == TensorSpec((2,), "uint8")
    with pytest.raises(AssertionError, match="no bounds"):
        BoundedTensorSpec.from_spec(TensorSpec((2,)))


def test_specs_are_joined_flat() -> None:
    one, other = BoundedTensorSpec((2, 1), "float32", 0, 1), BoundedTensorSpec((1,), "float32", -1, [3])
    assert concat_specs({"b": other, "a": one}) == BoundedTensorSpec((3,), "float32", [0, 0, -1], [1, 1, 3])
    assert concat_specs([TensorSpec((2, 2)), TensorSpec(())]) == TensorSpec((5,))
    for mixed in ([one, TensorSpec((1,))], [TensorSpec(()), TensorSpec((), "int64")]):
        with pytest.raises(AssertionError, match="can't be concatenated"):
            concat_specs(mixed)


def test_spec_of_what_there_is() -> None:
    tensor = tensors.chosen().tensor(np.zeros((4, 3), np.float32))
    assert TensorSpec.from_tensor(tensor, from_dim=1) == TensorSpec((3,), "float32")
    assert TensorSpec.from_array(np.int32(3)) == TensorSpec((), "int32")
    assert TensorSpec.from_array(True) == TensorSpec((), "bool")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2,), "int64", 3, 2), "above the maximum"),
        (((2,), "int64", [0, 0, 0], 2), "expected the shape"),
        (((2,), "uint8", 0, 256), "can't hold"),
        (((2,), "float32", np.nan, 1), "above the maximum"),
        (((-1,), "float32"), "0 or more"),
        (((), "flaot32"), "no dtype"),
    ],
)
def test_wrong_specs_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        BoundedTensorSpec(*arguments)


def test_actions_come_as_tensors_arrays_or_numbers() -> None:
    spec = {"move": BoundedTensorSpec((), "int64", 0, 3), "force": BoundedTensorSpec((2,), "float32", -1, 1)}
    tensor = tensors.chosen().tensor
    for move in (2, np.int32(2), np.uint8(2), tensor(np.asarray(2))):
        action = as_action(spec, {"move": move, "force": tensor(np.array([0.5, -1.0]))})
        assert (action["move"].dtype, action["force"].dtype) == (np.int64, np.float32)
        assert (action["move"].tolist(), action["force"].tolist()) == (2, [0.5, -1])


@pytest.mark.parametrize(
    "action",
    [4, -1, 1.0, np.array([1]), "left", None, {"move": 1}, np.uint64(2**64 - 1)],
)
def test_what_is_no_action_is_refused(action: Any) -> None:
    with pytest.raises(ActionError, match="expected BoundedTensorSpec"):
        as_action(BoundedTensorSpec((), "int64", 0, 3), action)


def test_batch_of_another_size_is_refused() -> None:
    with pytest.raises(ActionError, match=r"behind \(3,\)"):
        as_action(BoundedTensorSpec((), "int64", 0, 3), np.zeros(2, np.int64), (3,))


def test_checked_action_is_not_the_agents_own_array() -> None:
    own = tensors.chosen().tensor(np.array([1, 2]))
    checked = as_action(BoundedTensorSpec((), "int64", 0, 3), own, (2,))
    own[0] = 3
    assert checked.tolist() == [1, 2]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.5])
def test_continuous_action_beyond_its_bounds_is_refused(value: float) -> None:
    with pytest.raises(ActionError, match="expected"):
        as_action(BoundedTensorSpec((1,), "float32", -1, 1), np.array([value]))
