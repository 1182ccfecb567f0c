"""Nests: arrays, specs or tensors in dicts, lists, tuples and named tuples. Anything else, None too, is a leaf.

They are dm-tree's, with ALF's names: leaves of a dict come in the order of its sorted keys, those of a named tuple in
the order of its fields. ``py_…`` are other names of the same, where ALF has one in C++ and one in Python; two of those
can keep the order of a dict's keys. A structure that isn't as expected is ``Refused``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast, overload

import numpy as np

from pluriverse.errors import needed

from .tensors import Refused

with needed("dm-tree", extra="alf"):
    _tree: Any = importlib.import_module("tree")  # it has no types

Nest = Any
"""A leaf, or a container of nests. Its leaves are whatever the function at hand says."""

NestT = TypeVar("NestT")


def is_nested(value: object) -> bool:
    """Return whether ``value`` is a container."""
    return _tree.is_nested(value)


def is_namedtuple(value: Any) -> bool:
    """Return whether ``value`` is a named tuple."""
    return hasattr(value, "_fields") and isinstance(value, tuple)


def is_unnamedtuple(value: Any) -> bool:
    """Return whether ``value`` is a tuple without names."""
    return not is_namedtuple(value) and isinstance(value, tuple)


def flatten(nest: Nest) -> list[Any]:
    """Return the leaves, in order."""
    return _tree.flatten(nest)


def pack_sequence_as(nest: Nest, flat_seq: Iterable[Any]) -> Nest:
    """Return a nest of the structure of ``nest`` with these leaves."""
    return _compared(_tree.unflatten_as, nest, list(flat_seq))


def assert_same_structure(nest1: Nest, nest2: Nest) -> None:
    """Refuse two nests that differ in more than their leaves; dicts of every kind are the same."""
    _compared(_tree.assert_same_structure, nest1, nest2)


def flatten_up_to(shallow_nest: Nest, nest: Nest, check_types: bool = True) -> list[Any]:
    """Return what stands in ``nest`` for each leaf of ``shallow_nest``: a leaf, or a nest.

    ``check_types``: whether a tuple may not stand for a list.
    """
    return _compared(_tree.flatten_up_to, shallow_nest, nest, check_types=check_types)


def assert_same_structure_up_to(shallow_nest: Nest, deep_nest: Nest) -> None:
    """Refuse a nest that hasn't the structure of ``shallow_nest``; its leaves may be anything."""
    flatten_up_to(shallow_nest, deep_nest)


def _compared(function: Callable[..., Any], one: Nest, other: Nest, **options: Any) -> Any:
    try:
        return function(one, other, **options)
    except (TypeError, ValueError) as error:
        raise Refused(f"the structures differ: {one!r:.200} and {other!r:.200}") from error


@overload
def map_structure(func: Callable[[Any], Any], nest: Nest, /) -> Nest: ...
@overload
def map_structure(func: Callable[[Any, Any], Any], nest: Nest, other: Nest, /) -> Nest: ...
@overload
def map_structure(func: Callable[..., Any], /, *nests: Nest) -> Nest: ...
def map_structure(func: Callable[..., Any], /, *nests: Nest) -> Nest:
    """Return a nest of the same structure, with ``func`` of the corresponding leaves of all nests."""
    first, *others = nests
    for other in others:
        assert_same_structure(first, other)
    return fast_map_structure(func, *nests) if others or is_nested(first) else func(first)


def fast_map_structure(func: Callable[..., Any], *structure: Nest) -> Nest:
    """Map nests whose structures are known to be the same."""
    return fast_map_structure_flatten(func, structure[0], *map(flatten, structure))


def fast_map_structure_flatten(func: Callable[..., Any], structure: Nest, *flat_structure: Iterable[Any]) -> Nest:
    """Map lists of leaves, and pack the results as ``structure`` is."""
    return _tree.unflatten_as(structure, list(map(func, *flat_structure)))


def map_structure_up_to(shallow_nest: Nest, func: Callable[..., Any], *nests: Nest, check_types: bool = True) -> Nest:
    """Map nests where anything may stand for a leaf of ``shallow_nest``; see ``flatten_up_to``."""
    if not is_nested(shallow_nest):
        return func(*nests)
    flat = (flatten_up_to(shallow_nest, nest, check_types) for nest in nests)
    return fast_map_structure_flatten(func, shallow_nest, *flat)


def py_map_structure_with_path(func: Callable[..., Any], *nests: Nest) -> Nest:
    """Map nests with the path to each leaf, such as ``"a.0"``, as the first argument."""
    paths = [".".join(map(str, path)) for path, _ in _tree.flatten_with_path(nests[0])]
    return map_structure(func, pack_sequence_as(nests[0], paths), *nests)


map_structure_without_check = fast_map_structure
py_flatten_up_to, py_assert_same_structure = flatten_up_to, assert_same_structure
py_map_structure, py_map_structure_up_to = map_structure, map_structure_up_to


def py_flatten(nest: Nest, keep_fields_order: bool = False) -> list[Any]:
    """Return the leaves; those of a dict in the order of its keys, if ``keep_fields_order``."""
    if not keep_fields_order or not is_nested(nest):
        return flatten(nest)
    return [leaf for part in _parts(nest).values() for leaf in py_flatten(part, True)]


def py_pack_sequence_as(nest: Nest, flat_seq: Iterable[Any], keep_fields_order: bool = False) -> Nest:
    """Return a nest of the structure of ``nest`` with these leaves, in the order of ``py_flatten``."""
    leaves = list(flat_seq)
    if keep_fields_order:
        places = py_flatten(pack_sequence_as(nest, range(len(leaves))), True)
        leaves = [leaf for _, leaf in sorted(zip(places, leaves, strict=True), key=lambda placed: placed[0])]
    return pack_sequence_as(nest, leaves)


def _parts(nest: Nest) -> dict[str, Nest]:
    """Return what is in a container, by name or by number; nothing of a leaf."""
    if is_namedtuple(nest):
        return nest._asdict()
    if isinstance(nest, dict):
        return {str(name): part for name, part in cast("dict[Any, Nest]", nest).items()}
    return {str(name): part for name, part in enumerate(nest)} if is_nested(nest) else {}


def _has_fields(nest: Nest) -> bool:
    return is_namedtuple(nest) or isinstance(nest, dict)


def _like(nest: Nest, parts: dict[str, Nest]) -> Nest:
    """Return a container of the kind of ``nest`` with other parts."""
    return type(nest)(**parts) if _has_fields(nest) else type(nest)(parts.values())


def extract_fields_from_nest(nest: Nest, keep_order: bool = False) -> Iterator[tuple[str, Nest]]:
    """Return the fields of a dict or a named tuple with their values, sorted unless told not to."""
    if not _has_fields(nest):
        raise Refused(f"{nest!r:.120} has no fields; expected a dict or a named tuple")
    parts = _parts(nest)
    return iter([(name, parts[name]) for name in (parts if keep_order else sorted(parts))])


def get_field(nested: Nest, field: str | None) -> Nest:
    """Return the part at a path such as ``"sensors.0.camera"``; None: the whole nest. Refuse one that isn't there."""
    for name in field.split(".") if field else ():
        if name not in (parts := _parts(nested)):
            raise Refused(f"there is no field {name!r} in {nested!r:.120}")
        nested = parts[name]
    return nested


def transform_nest(nested: Nest, field: str | None, func: Callable[[Any], Any]) -> Nest:
    """Return the nest with the part at a path replaced by ``func`` of it; see ``get_field``."""
    if not field:
        return func(nested)
    name, _, rest = field.partition(".")
    part = get_field(nested, name)
    return _like(nested, {**_parts(nested), name: transform_nest(part, rest, func)})


def set_field(nested: Nest, field: str | None, new_value: Nest) -> Nest:
    """Return the nest with another part at a path; see ``get_field``."""
    return transform_nest(nested, field, lambda _: new_value)


def transform_nests(nests: Sequence[Nest], field: str | None, func: Callable[[Any], Iterable[Nest]]) -> list[Nest]:
    """Return the nests with their parts at a path replaced by ``func`` of the list of those."""
    changed = func([get_field(nest, field) for nest in nests])
    return [set_field(nest, field, part) for nest, part in zip(nests, changed, strict=True)]


def find_field(nest: Nest, name: str, ignore_empty: bool = True) -> list[Nest]:
    """Return all parts of this name, wherever they are but within each other; None and () are left out."""
    found: list[Nest] = []
    for field, part in _parts(nest).items():
        if field != name:
            found += find_field(part, name, ignore_empty)
        elif not ignore_empty or (part is not None and part != () and part != []):
            found.append(part)
    return found


def prune_nest_like(nest: Nest, slim_nest: Nest, value_to_match: Any = None) -> Nest:
    """Return the nest with only the fields that ``slim_nest`` has too.

    Where that has ``value_to_match`` instead of a field, so has the result. Lists and tuples must be of one length.
    """
    if not is_nested(nest) and not is_nested(slim_nest):
        return nest
    parts, wanted = _parts(nest), _parts(slim_nest)
    missing = wanted.keys() - parts.keys() if _has_fields(nest) else wanted.keys() ^ parts.keys()
    if type(nest) is not type(slim_nest) or missing:
        raise Refused(f"{nest!r:.200} can't be pruned like {slim_nest!r:.200}")
    for name, slim in wanted.items():
        parts[name] = slim if slim == value_to_match else prune_nest_like(parts[name], slim, value_to_match)
    return _like(nest, {name: parts[name] for name in wanted})


py_prune_nest_like = prune_nest_like


def nest_top_level(nested: Nest) -> Nest:
    """Return the outermost container, with None in place of its parts."""
    return _like(nested, dict.fromkeys(_parts(nested))) if is_nested(nested) else nested


def transpose(nested: Nest, shallow_nest: Nest = None, new_shallow_nest: Nest = None) -> Nest:
    """Return the nest turned inside out: what stands for the leaves of ``shallow_nest`` becomes the outside.

    Its parts must be of one structure. Both shallow nests are the outermost containers, unless given.
    """
    outside = nest_top_level(nested) if shallow_nest is None else shallow_nest
    if not is_nested(nested) or not is_nested(outside):
        return nested
    rows = flatten_up_to(outside, nested)
    for row in rows:
        assert_same_structure(rows[0], row)
    inside = nest_top_level(rows[0]) if new_shallow_nest is None else new_shallow_nest
    columns = zip(*(flatten_up_to(inside, row) for row in rows), strict=True)
    return pack_sequence_as(inside, [pack_sequence_as(outside, column) for column in columns])


def extract_any_leaf_from_nest(nest: Nest) -> Any:
    """Return the first leaf that isn't None; None if there is none."""
    return next((leaf for leaf in flatten(nest) if leaf is not None), None)


def get_nest_shape(nest: Nest) -> Sequence[int]:
    """Return the shape of the first leaf; refuse a nest without leaves."""
    if (leaf := extract_any_leaf_from_nest(nest)) is None:
        raise Refused(f"{nest!r:.120} has no arrays; expected at least one")
    return leaf.shape


def get_nest_size(nest: Nest, dim: int) -> int:
    """Return one side of the first leaf."""
    return get_nest_shape(nest)[dim]


def get_nest_batch_size(nest: Nest) -> int:
    """Return the first side of the first leaf."""
    return get_nest_size(nest, 0)


def batch_nested_tensor(nested_tensor: NestT) -> NestT:
    """Return the nest with a batch dimension of 1 in front."""
    return map_structure(lambda leaf: leaf[None], nested_tensor)


def unbatch_nested_tensor(nested_tensor: NestT) -> NestT:
    """Return the nest without its batch dimension of 1."""
    return map_structure(lambda leaf: leaf.squeeze(0), nested_tensor)


def sum_nest(nested: Nest) -> Any:
    """Return the sum of all leaves."""
    return sum(flatten(nested))


def stack(nests: Sequence[NestT]) -> NestT:
    """Return one nest of arrays with a batch dimension in front; refuse other structures."""
    return map_structure(lambda *leaves: np.stack(leaves), *nests)


def unstack(nest: NestT, n: int) -> list[NestT]:
    """Return the ``n`` nests of a batch."""
    leaves = flatten(nest)
    return [_tree.unflatten_as(nest, [leaf[index] for leaf in leaves]) for index in range(n)]
