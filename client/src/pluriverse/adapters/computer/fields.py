"""The fields of what a model asked for, checked: it may send anything. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, cast

from pluriverse.errors import ActionError

from .acts import Mark, Place
from .tree import MAX_MARKS

# Of what is wrong, as much is said.
SHOWN: Final = 80

_REQUIRED: Final = object()


def text_of(given: Any, name: str) -> str:
    """Return a field that names what is answered; empty if there is none."""
    fields = _mapping(given)
    found = None if fields is None else fields.get(name)
    return found if isinstance(found, str) else ""


class Fields:
    """The fields of one action; each is asked for once, and none may be left over.

    All methods raise ActionError, which says what was expected.
    """

    def __init__(self, action: str, given: Any) -> None:
        fields = _mapping(given)
        if fields is None:
            raise ActionError(f"{action} takes an object, got {given!r:.{SHOWN}}")
        self.action = action
        # A field that is null is as one that isn't there.
        self._left: dict[Any, Any] = {name: value for name, value in fields.items() if value is not None}

    def done(self) -> None:
        """Check that nothing was given beside what was asked for."""
        if self._left:
            raise ActionError(f"{self.action} takes no {next(iter(self._left))!r:.{SHOWN}}")

    def has(self, name: str) -> bool:
        """Return whether a field is there."""
        return name in self._left

    def any(self, name: str) -> Any:
        """Return a field of any kind, unchecked."""
        return self._take(name, _REQUIRED)

    def text(self, name: str, maximum: int, default: Any = _REQUIRED) -> Any:
        """Return a text of at most ``maximum`` characters."""
        value = self._take(name, default)
        if value is default:
            return value
        if not isinstance(value, str):
            self._refuse(name, value, "a text")
        if len(value) > maximum:
            raise ActionError(f"{self.action}: {name} has {len(value)} characters; at most {maximum} are taken at once")
        return value

    def number(self, name: str, minimum: float, maximum: float, default: Any = _REQUIRED) -> Any:
        """Return a number from ``minimum`` to ``maximum``."""
        value = self._take(name, default)
        if value is default:
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or not _within(value, minimum, maximum):
            self._refuse(name, value, f"a number of {minimum:g} to {maximum:g}")
        return value

    def integer(self, name: str, minimum: int, maximum: int, default: Any = _REQUIRED) -> Any:
        """Return a whole number from ``minimum`` to ``maximum``."""
        value = self.number(name, minimum, maximum, default)
        if value is default:
            return value
        if value != int(value):
            self._refuse(name, value, "a whole number")
        return int(value)

    def choice(self, name: str, choices: Mapping[str, Any], default: Any = _REQUIRED) -> Any:
        """Return what one of some words stands for."""
        value = self._take(name, default)
        if value is default:
            return value
        if not isinstance(value, str) or value not in choices:
            self._refuse(name, value, f"one of {', '.join(choices)}")
        return choices[value]

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            self._refuse(name, value, "true or false")
        return bool(value)

    def items(self, name: str, maximum: int, default: Any = _REQUIRED) -> Any:
        """Return a list of at most ``maximum`` items."""
        value = self._take(name, default)
        if value is default:
            return value
        if not isinstance(value, list | tuple):
            self._refuse(name, value, "a list")
        given = cast("list[Any]", value)
        if len(given) > maximum:
            raise ActionError(f"{self.action}: {name} has {len(given)} items; at most {maximum} are taken")
        return given

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return an object."""
        value = self._take(name, _REQUIRED)
        if not isinstance(value, Mapping):
            self._refuse(name, value, "an object")
        return cast("Mapping[str, Any]", value)

    def numbers(self, name: str, count: int, default: Any = _REQUIRED) -> Any:
        """Return ``count`` whole numbers."""
        given = self.items(name, count, default)
        if given is default:
            return given
        if len(given) != count or not all(_is_whole(value) for value in given):
            self._refuse(name, given, f"{count} whole numbers")
        return tuple(map(int, given))

    def place(self, name: str, default: Any = _REQUIRED, mark: str = "mark") -> Any:
        """Return a place, given as [x, y] or as the number of a mark."""
        return self._mark(mark) if self.has(mark) else self.numbers(name, 2, default)

    def xy(self, x: str = "x", y: str = "y", mark: str = "mark") -> Place:
        """Return a place, given as two fields or as the number of a mark."""
        if self.has(mark):
            return self._mark(mark)
        place = self._take(x, _REQUIRED), self._take(y, _REQUIRED)
        if not all(map(_is_whole, place)):
            self._refuse(f"{x}, {y}", place, "two whole numbers")
        return int(place[0]), int(place[1])

    def _mark(self, name: str) -> Mark:
        return Mark(self.integer(name, 1, MAX_MARKS))

    def _take(self, name: str, default: Any) -> Any:
        value = self._left.pop(name, default)
        if value is _REQUIRED:
            raise ActionError(f"{self.action} needs {name}")
        return value

    def _refuse(self, name: str, value: Any, expected: str) -> None:
        raise ActionError(f"{self.action}: {name} is {value!r:.{SHOWN}}; expected {expected}")


def _mapping(given: Any) -> Mapping[Any, Any] | None:
    """Return the fields of an object, also of one that the provider's SDK made, which is a model of pydantic's."""
    dump = getattr(given, "model_dump", None)
    fields = dump() if callable(dump) else given
    return cast("Mapping[Any, Any]", fields) if isinstance(fields, Mapping) else None


def _within(value: float, minimum: float, maximum: float) -> bool:
    return (isinstance(value, int) or math.isfinite(value)) and minimum <= value <= maximum


def _is_whole(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and _within(value, -1e9, 1e9)
        and value == int(value)
    )
