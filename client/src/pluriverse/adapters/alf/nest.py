"""Dicts, lists, tuples and named tuples of arrays, specs or tensors, within each other. Everything else is a leaf."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeGuard, cast, overload

import numpy as np

from pluriverse.errors import Misuse

Nest = Any


def is_nested(value: object) -> TypeGuard[dict[str, Any] | list[Any] | tuple[Any, ...]]:
    """Whether it has parts."""
    return isinstance(value, dict | list | tuple)


@overload
def map_structure(function: Callable[[Any], Any], nest: Nest, /) -> Nest: ...
@overload
def map_structure(function: Callable[[Any, Any], Any], nest: Nest, other: Nest, /) -> Nest: ...
@overload
def map_structure(function: Callable[..., Any], nest: Nest, /, *others: Nest) -> Nest: ...
def map_structure(function: Callable[..., Any], nest: Nest, /, *others: Nest) -> Nest:
    """A nest of the same structure, with ``function`` of the leaves; of the leaves of all, where there are several.

    Raises:
        Misuse: their structures differ; says where.
    """

    def of_leaves(*leaves: Any) -> Any:
        for other in leaves[1:]:
            _require(not is_nested(other), leaves[0], other)
        return function(*leaves)

    return _map(of_leaves if others else function, nest, *others)


def map_up_to(function: Callable[[Any, Any], Any], nest: Nest, other: Nest) -> Nest:
    """``map_structure``, but whatever stands in the place of a leaf of ``nest`` is one, such as a list of numbers.

    Raises:
        Misuse: ``other`` hasn't the structure of ``nest``; says where.
    """
    return _map(function, nest, other)


def _map(function: Callable[..., Any], nest: Nest, *others: Nest) -> Nest:
    if isinstance(nest, dict):
        named = cast("dict[str, Any]", nest)
        for other in others:
            _require(isinstance(other, dict) and cast("dict[str, Any]", other).keys() == named.keys(), named, other)
        return {key: _map(function, part, *(each[key] for each in others)) for key, part in named.items()}
    if isinstance(nest, list | tuple):
        parts = cast("list[Any] | tuple[Any, ...]", nest)
        for other in others:
            _require(isinstance(other, list | tuple) and len(cast("list[Any]", other)) == len(parts), parts, other)
        new = [_map(function, *each) for each in zip(parts, *others, strict=True)]
        if isinstance(parts, tuple):
            return type(parts)(*new) if hasattr(parts, "_fields") else tuple(new)
        return new
    return function(nest, *others)


def _require(alike: bool, one: Any, other: Any) -> None:
    if not alike:
        raise Misuse(f"the structures differ: {one!r:.200} and {other!r:.200}")


def flatten(nest: Nest) -> list[Any]:
    """The leaves, in order."""
    return list(_leaves(nest))


def _leaves(nest: Nest) -> Iterator[Any]:
    if isinstance(nest, dict):
        nest = list(cast("dict[str, Any]", nest).values())
    if isinstance(nest, list | tuple):
        for part in cast("Sequence[Any]", nest):
            yield from _leaves(part)
    else:
        yield nest


def stack(nests: Sequence[Nest]) -> Nest:
    """One nest of arrays with a batch dimension in front, of at least one nest of arrays or numbers.

    Raises:
        Misuse: their structures differ.
    """
    return map_structure(lambda *leaves: np.stack(leaves), nests[0], *nests[1:])


def unstack(nest: Nest, n: int) -> list[Nest]:
    """``stack`` undone: ``n`` nests."""
    return [map_structure(operator.itemgetter(index), nest) for index in range(n)]


def map_field(function: Callable[[Any], Any], nest: Nest, field: str | None) -> Nest:
    """A nest with one of its parts changed. ``field`` is its path, such as ``"sensors.camera"``; None: all of it.

    Raises:
        Misuse: there is no such part.
    """
    if not field:
        return function(nest)
    key, _, rest = field.partition(".")
    if not isinstance(nest, dict) or key not in nest:
        raise Misuse(f"there is no field {field!r} in {nest!r:.120}")
    parts = cast("dict[str, Any]", nest)
    return {**parts, key: map_field(function, parts[key], rest)}
