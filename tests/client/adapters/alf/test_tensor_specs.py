import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.tensor_specs import (
    TEXT_BYTES,
    BoundedTensorSpec,
    TensorSpec,
    as_action,
    decode_text,
    encode_text,
    text_spec,
)
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


def test_spec_says_what_tensors_look_like(library: str) -> None:
    spec = TensorSpec([2, 3], "uint8", "camera")
    assert (spec.shape, spec.dtype_str) == ((2, 3), "uint8")
    assert spec.is_discrete
    assert type(spec.dtype).__module__.partition(".")[0] == library
    assert TensorSpec((2, 3), spec.dtype) == spec
    assert repr(spec) == "TensorSpec((2, 3), 'uint8', name='camera')"
    assert TensorSpec((2, 3), "float32").is_continuous


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2,), "int64", 3, 2), "above the maximum"),
        (((2,), "int64", [0, 0, 0], 2), "don't fit"),
        (((2,), "uint8", 0, 256), "don't fit"),
        (((2,), "float32", np.nan, 1), "above the maximum"),
    ],
)
def test_wrong_specs_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        BoundedTensorSpec(*arguments)


def test_actions_come_as_tensors_arrays_or_numbers() -> None:
    spec = {"move": BoundedTensorSpec((), "int64", 0, 3), "force": BoundedTensorSpec((2,), "float32", -1, 1)}
    tensor = tensors.tensor
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


@each_library
@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))
def test_texts_come_back_as_they_were(text: str) -> None:
    row = tensors.tensor(encode_text(text))
    assert text_spec().contains(row)
    assert decode_text(row) == text


def test_long_text_is_cut_between_two_characters() -> None:
    text = "ab" + "é" * TEXT_BYTES
    assert decode_text(encode_text(text)) == text[: TEXT_BYTES // 2 + 1]
