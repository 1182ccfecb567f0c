import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse import validation
from pluriverse.errors import ConfigurationError
from pluriverse_protocol.limits import MAX_SEED

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.complex_numbers(),
    st.lists(st.one_of(st.integers(), st.floats(), st.text())),
    st.dictionaries(st.text(), st.integers()),
    st.builds(object),
    st.sampled_from([np.int64(3), np.float32(0.5), np.True_, np.array(2), np.array([1, 2]), 10**400, -(10**400)]),
)


@pytest.mark.parametrize("given", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_integers_of_numpy_become_pythons_own(given: Any) -> None:
    assert type(validation.integer("steps", given)) is int
    assert validation.integer("steps", given, 3, 3) == 3


@pytest.mark.parametrize("given", [7, np.int64(7), np.array([7, 8]), [np.int64(7), 8]])
def test_a_seed_is_the_first_of_several_or_there_is_one_for_each(given: Any) -> None:
    seeds = validation.seeds(given, 2)
    assert seeds == [7, 8]
    assert {type(seed) for seed in seeds} == {int}
    assert validation.seeds(None, 2) == [None, None]
    with pytest.raises(ConfigurationError, match="got 2 seeds for 3 environments"):
        validation.seeds([7, 8], 3)


@pytest.mark.parametrize(
    "given", [math.nan, math.inf, -math.inf, np.float64("nan"), 10**400, True, "2", None, 1j, 0, 9]
)
def test_what_is_no_finite_number_in_range_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"fps is .*; expected a finite number over 0, at most 8"):
        validation.number("fps", given, above=0, maximum=8)


@pytest.mark.parametrize("given", [(2, 3), [2, 3], np.array([2, 3])])
def test_size_is_height_and_width(given: Any) -> None:
    assert validation.picture_size(given) == (2, 3)


def test_mappings_are_copied_and_have_names() -> None:
    options = {"mode": 1}
    assert validation.mapping("options", options) == options
    assert validation.mapping("options", options) is not options
    assert validation.mapping("options", None) == {}
    with pytest.raises(ConfigurationError, match="expected a mapping"):
        validation.mapping("options", {1: 2})


@given(ANYTHING)
def test_anything_is_converted_or_refused_by_name(value: Any) -> None:
    checks: tuple[Callable[[], Any], ...] = (
        lambda: validation.seed(value, "it"),
        lambda: validation.integer("it", value, 1, 9),
        lambda: validation.number("it", value, 0, 1),
        lambda: validation.flag("it", value),
        lambda: validation.choice("it", value, ("a", None)),
        lambda: validation.picture_size(value, "it"),
        lambda: validation.mapping("it", value),
        lambda: validation.instance("it", value, int),
    )
    for check in checks:
        try:
            result, said = check(), "it is "
        except ConfigurationError as error:
            result, said = None, str(error)
        assert said.startswith("it is ")
        assert not isinstance(result, np.generic)
    with pytest.raises(ConfigurationError, match="seed"):
        validation.seed(MAX_SEED + 1)
