"""Nests of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.alf import nest, tensors
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


@given(NESTS)
def test_leaves_are_packed_again_as_they_were(tree: Any) -> None:
    leaves = nest.flatten(tree)
    assert nest.pack_sequence_as(tree, leaves) == nest.py_pack_sequence_as(tree, iter(leaves)) == tree
    nest.assert_same_structure(tree, nest.fast_map_structure(abs, tree))
    with pytest.raises(RuntimeError, match="structures differ"):
        nest.pack_sequence_as(tree, [*leaves, 1])


def test_dicts_keep_the_order_of_their_keys_if_told_to() -> None:
    tree = {"b": 1, "a": ({"d": 2, "c": 3}, 4)}
    assert nest.py_flatten(tree, keep_fields_order=True) == [1, 2, 3, 4]
    assert nest.py_pack_sequence_as(tree, [5, 6, 7, 8], keep_fields_order=True) == {"b": 5, "a": ({"d": 6, "c": 7}, 8)}
    assert nest.py_flatten(tree) == nest.flatten(tree) == [3, 2, 4, 1]


@given(NESTS, NESTS)
def test_anything_may_stand_for_a_leaf_of_the_shallow_nest(tree: Any, part: Any) -> None:
    deep = nest.map_structure(lambda _: part, tree)
    nest.assert_same_structure_up_to(tree, deep)
    leaves = nest.flatten(tree)
    assert nest.flatten_up_to(tree, deep) == [part] * len(leaves)
    pairs = nest.pack_sequence_as(tree, [(leaf, part) for leaf in leaves])
    assert nest.map_structure_up_to(tree, both, tree, deep) == pairs


def both(*leaves: Any) -> Any:
    return leaves


@pytest.mark.parametrize(
    ("shallow", "deep"),
    [([1, 2], [1, 2, 3]), ([1, 2], (1, 2)), ({"a": 1}, {"b": 1}), ({"a": 1}, {"a": 1, "b": 2}), ([[1]], [1])],
)
def test_shallow_nest_of_another_structure_is_refused_unless_types_do_not_matter(shallow: Any, deep: Any) -> None:
    with pytest.raises(AssertionError, match="structures differ"):
        nest.map_structure_up_to(shallow, both, deep)
    assert nest.flatten_up_to([1, 2], (3, [4]), check_types=False) == [3, [4]]


TREE: Any = {"a": {"b": 1, "c": [2, (4,)]}, "d": TimeStep(reward=3)}


def test_parts_are_found_and_changed_by_their_paths() -> None:
    assert [nest.get_field(TREE, path) for path in ("a.b", "a.c.1.0", "d.reward")] == [1, 4, 3]
    assert nest.get_field(TREE, None) is nest.get_field(TREE, "") is TREE
    changed = nest.transform_nest(TREE, "a.c.1", lambda part: part * 2)
    assert changed == {"a": {"b": 1, "c": [2, (4, 4)]}, "d": TimeStep(reward=3)}
    assert nest.set_field(TREE, "d.reward", 5)["d"] == TimeStep(reward=5)
    assert nest.transform_nest(4, None, lambda leaf: leaf * 10) == 40
    one, other = nest.transform_nests([TREE, TREE], "a.b", lambda parts: [parts[0] + 1, parts[1] + 2])
    assert (one["a"]["b"], other["a"]["b"], TREE["a"]["b"]) == (2, 3, 1)


@pytest.mark.parametrize("path", ["x", "a.x", "a.b.c", "a.c.2", "d.rewards"])
def test_path_that_is_not_there_is_refused(path: str) -> None:
    with pytest.raises(LookupError, match="there is no field"):
        nest.get_field(TREE, path)
    with pytest.raises(LookupError, match="there is no field"):
        nest.transform_nest(TREE, path, id)


def test_leaves_are_mapped_with_their_paths() -> None:
    expected = [{"a": ("0.a", 1, 3)}, ("1", 2, 4)]
    assert nest.py_map_structure_with_path(both, [{"a": 1}, 2], [{"a": 3}, 4]) == expected


def test_parts_are_found_by_name_but_not_within_each_other() -> None:
    tree = TimeStep(reward=1, observation=[{"reward": {"reward": 2}}, {"x": {"reward": None}}])
    assert nest.find_field(tree, "reward") == [1, {"reward": 2}]
    assert nest.find_field(tree, "reward", ignore_empty=False) == [1, {"reward": 2}, None]


def test_nest_is_pruned_to_what_another_has() -> None:
    assert nest.prune_nest_like(TREE, {"a": {"c": [0, (0,)]}}) == {"a": {"c": [2, (4,)]}}
    assert nest.prune_nest_like({"a": 1, "b": 2}, {"a": 0, "b": ()}, value_to_match=()) == {"a": 1, "b": ()}
    assert nest.prune_nest_like([1, 3], [None, 1]) == [None, 3]
    step = nest.prune_nest_like(TimeStep(reward=1, discount=2), TimeStep(discount=0), value_to_match=())
    assert step == TimeStep(discount=2)
    for slim in ({"z": 1}, [1], 5):
        with pytest.raises(ValueError, match="can't be pruned"):
            nest.prune_nest_like({"a": 1}, slim)


def test_nest_is_turned_inside_out() -> None:
    assert nest.transpose([(0, 1), (2, 3), (4, 5)]) == ([0, 2, 4], [1, 3, 5])
    tree = {"a": {"x": 3, "y": 1}, "b": [{"x": 5, "y": 10}]}
    assert nest.transpose(tree, {"a": None, "b": [None]}) == {"x": {"a": 3, "b": [5]}, "y": {"a": 1, "b": [10]}}
    assert nest.transpose(7) == 7
    assert nest.nest_top_level(tree) == {"a": None, "b": None}


def test_fields_come_sorted_unless_told_not_to() -> None:
    assert list(nest.extract_fields_from_nest({"b": 1, "a": 2})) == [("a", 2), ("b", 1)]
    assert list(nest.extract_fields_from_nest({"b": 1, "a": 2}, keep_order=True)) == [("b", 1), ("a", 2)]
    with pytest.raises(AssertionError, match="has no fields"):
        nest.extract_fields_from_nest([1])


def test_batches_have_the_shape_of_their_first_leaf(library: str) -> None:
    tree: Any = [None, {"a": tensors.chosen().tensor(np.ones((3, 2)))}]
    assert (tuple(nest.get_nest_shape(tree)), nest.get_nest_size(tree, 1), nest.get_nest_batch_size(tree)) == (
        (3, 2),
        2,
        3,
    )
    batch = nest.batch_nested_tensor(tree[1])
    assert tuple(batch["a"].shape) == (1, 3, 2)
    assert tuple(nest.unbatch_nested_tensor(batch)["a"].shape) == (3, 2)
    assert nest.sum_nest([1, {"a": 2}]) == 3
    with pytest.raises(AssertionError, match="no arrays"):
        nest.get_nest_shape([None])
