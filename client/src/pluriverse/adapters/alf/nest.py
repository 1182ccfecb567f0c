"""Nests: arrays, specs or tensors in dicts, lists, tuples and named tuples. Anything else, None too, is a leaf.

They are dm-tree's, but for the errors: leaves of a dict come in the order of its sorted keys.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, overload

import numpy as np

from pluriverse.errors import Misuse, needed

with needed("dm-tree", extra="alf"):
    _tree: Any = importlib.import_module("tree")  # it has no types

Nest = Any
"""A leaf, or a container of nests. Its leaves are whatever the function at hand says."""

NestT = TypeVar("NestT")


def is_nested(value: object) -> bool:
    """Return whether ``value`` is a container."""
    return _tree.is_nested(value)


def flatten(nest: Nest) -> list[Any]:
    """Return the leaves, in order."""
    return _tree.flatten(nest)


@overload
def map_structure(function: Callable[[Any], Any], nest: Nest, /) -> Nest: ...
@overload
def map_structure(function: Callable[[Any, Any], Any], nest: Nest, other: Nest, /) -> Nest: ...
@overload
def map_structure(function: Callable[..., Any], nest: Nest, /, *others: Nest) -> Nest: ...
def map_structure(function: Callable[..., Any], nest: Nest, /, *others: Nest) -> Nest:
    """Return a nest of the same structure, with ``function`` of the corresponding leaves of all given nests.

    Raise ``Misuse`` if their structures differ.
    """
    if not others and not is_nested(nest):
        return function(nest)
    return _rebuild(nest, function, *(_leaves(nest, other, up_to=False) for other in others))


def map_up_to(function: Callable[[Any, Any], Any], nest: Nest, other: Nest) -> Nest:
    """Map two nests, where anything may stand in ``other`` for a leaf of ``nest``, such as a list of numbers.

    Raise ``Misuse`` if ``other`` hasn't the structure of ``nest``; lists and tuples are the same here.
    """
    if not is_nested(nest):
        return function(nest, other)
    return _rebuild(nest, function, _leaves(nest, other, up_to=True))


def _leaves(nest: Nest, other: Nest, *, up_to: bool) -> list[Any]:
    try:
        if up_to:
            return _tree.flatten_up_to(nest, other, check_types=False)
        _tree.assert_same_structure(nest, other)
    except (TypeError, ValueError) as error:
        raise Misuse(f"the structures differ: {nest!r:.200} and {other!r:.200}") from error
    return flatten(other)


def _rebuild(nest: Nest, function: Callable[..., Any], *leaves: list[Any]) -> Nest:
    return _tree.unflatten_as(nest, list(map(function, flatten(nest), *leaves)))


def stack(nests: Sequence[NestT]) -> NestT:
    """Return one nest of arrays with a batch dimension in front; raise ``Misuse`` if structures differ."""
    return map_structure(lambda *leaves: np.stack(leaves), *nests)


def unstack(nest: NestT, n: int) -> list[NestT]:
    """Return the ``n`` nests of a batch."""
    leaves = flatten(nest)
    return [_tree.unflatten_as(nest, [leaf[index] for leaf in leaves]) for index in range(n)]


def map_field(function: Callable[[Any], Any], nest: Nest, field: str | None) -> Nest:
    """Return the nest with one part replaced by ``function`` of it.

    ``field`` is its path, such as ``"sensors.camera"``; None: the whole nest. Raise ``Misuse`` if there is none.
    """
    if not field:
        return function(nest)
    key, _, rest = field.partition(".")
    if not isinstance(nest, dict) or key not in nest:
        raise Misuse(f"there is no field {field!r} in {nest!r:.120}")
    parts = cast("dict[str, Nest]", nest)
    return {**parts, key: map_field(function, parts[key], rest)}
