"""Nests of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.alf import nest
from pluriverse.adapters.alf.data_structures import TimeStep
from pluriverse.errors import Misuse

LEAVES = st.integers(-9, 9)
NESTS: Any = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
)


@given(NESTS)
def test_mapping_keeps_the_structure_and_reaches_every_leaf(tree: Any) -> None:
    seen: list[int] = []
    assert nest.map_structure(lambda leaf: seen.append(leaf) or leaf, tree) == tree
    assert seen == nest.flatten(tree)
    assert nest.flatten(nest.map_structure(lambda one, other: one - other, tree, tree)) == [0] * len(seen)


@given(NESTS, st.integers(1, 4))
def test_stacking_is_undone_by_unstacking(tree: Any, n: int) -> None:
    arrays = nest.map_structure(np.asarray, tree)
    assert nest.unstack(nest.stack([arrays] * n), n) == [tree] * n


def test_named_tuples_stay_what_they_are() -> None:
    step = nest.map_structure(lambda leaf: leaf + 1, TimeStep(reward=1, observation={"a": 2}))
    assert step == TimeStep(reward=2, observation={"a": 3})


@pytest.mark.parametrize("other", [{"a": 1}, {"a": (1, 2), "c": 1}, {"a": (1, 2), "b": [1]}, {"a": (1,), "b": 1}, 5])
def test_other_structure_is_refused_and_named(other: Any) -> None:
    with pytest.raises(Misuse, match="structures differ"):
        nest.map_structure(lambda _one, _other: None, {"a": (1, 2), "b": 1}, other)


def test_one_field_changes_and_the_others_stay() -> None:
    tree = {"a": {"b": 1, "c": 2}, "d": 3}
    assert nest.map_field(lambda leaf: leaf * 10, tree, "a.b") == {"a": {"b": 10, "c": 2}, "d": 3}
    assert nest.map_field(lambda leaf: leaf * 10, 4, None) == 40
    with pytest.raises(Misuse, match="no field 'x'"):
        nest.map_field(lambda leaf: leaf, tree, "x")
