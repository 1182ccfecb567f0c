"""Dicts, lists, tuples and named tuples of arrays, specs or tensors, within each other. Everything else is a leaf."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard, cast, overload

import numpy as np

from pluriverse.errors import Misuse

Nest = Any


def is_nested(value: object) -> TypeGuard[Mapping[str, Any] | list[Any] | tuple[Any, ...]]:
    """Whether it has parts."""
    return isinstance(value, Mapping | list | tuple)


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
    return _map(function, "", nest, *others)


def map_up_to(function: Callable[[Any, Any], Any], nest: Nest, other: Nest) -> Nest:
    """``map_structure``, but whatever stands in the place of a leaf of ``nest`` is one, such as a list of numbers.

    Raises:
        Misuse: ``other`` hasn't the structure of ``nest``; says where.
    """
    return _map(function, "", nest, other, up_to=True)


def _map(function: Callable[..., Any], path: str, nest: Nest, *others: Nest, up_to: bool = False) -> Nest:
    if isinstance(nest, Mapping):
        mapping = cast("Mapping[str, Any]", nest)
        for other in others:
            _require_alike(
                isinstance(other, Mapping) and cast("Mapping[str, Any]", other).keys() == mapping.keys(),
                path,
                mapping,
                other,
            )
        return {
            key: _map(function, f"{path}.{key}", mapping[key], *(each[key] for each in others), up_to=up_to)
            for key in mapping
        }
    if isinstance(nest, list | tuple):
        parts = cast("list[Any] | tuple[Any, ...]", nest)
        for other in others:
            _require_alike(
                isinstance(other, list | tuple) and len(cast("Any", other)) == len(parts), path, parts, other
            )
        new = [
            _map(function, f"{path}.{index}", *each, up_to=up_to)
            for index, each in enumerate(zip(parts, *others, strict=True))
        ]
        if isinstance(parts, tuple):
            return type(parts)(*new) if hasattr(parts, "_fields") else tuple(new)
        return new
    for other in others:
        _require_alike(up_to or not is_nested(other), path, nest, other)
    return function(nest, *others)


def _require_alike(alike: bool, path: str, one: Any, other: Any) -> None:
    if not alike:
        raise Misuse(f"the structures differ at {path or 'the top'}: {one!r:.120} and {other!r:.120}")


def flatten(nest: Nest) -> list[Any]:
    """The leaves, in order."""
    return list(_leaves(nest))


def _leaves(nest: Nest) -> Iterator[Any]:
    if isinstance(nest, Mapping):
        nest = list(cast("Mapping[str, Any]", nest).values())
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
    if not isinstance(nest, Mapping) or key not in nest:
        raise Misuse(f"there is no field {field!r} in {nest!r:.120}")
    mapping = cast("Mapping[str, Any]", nest)
    return {**mapping, key: map_field(function, mapping[key], rest)}
