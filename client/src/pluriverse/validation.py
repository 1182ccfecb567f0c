"""Checks what a caller gives, and converts it to Python's own types. Pure.

All raise ``ConfigurationError`` with the name, the value and what was expected.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from numbers import Real
from typing import Any, Final, NoReturn, TypeVar, cast

from pluriverse_protocol.limits import MAX_ENV_ID_CHARS, MAX_SEED

from .errors import ConfigurationError

# No policy uses more; it is a mistake, such as pixels for a factor.
MAX_SIDE: Final = 16384

T = TypeVar("T")

# Of a value; a wrong one may be a whole array.
SHOWN: Final = 80


def integer(name: str, value: Any, minimum: int | None = None, maximum: int | None = None) -> int:
    """Return an integer, also of NumPy's, from ``minimum`` to ``maximum``; bools and floats aren't."""
    try:
        number = None if is_flag(value) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not _within(number, minimum, maximum):
        refuse(name, value, f"an integer{_range(minimum, maximum)}")
    return number


def seed(value: Any, name: str = "seed") -> int | None:
    """Return a seed that remotes take; None: none."""
    return None if value is None else integer(name, value, 0, MAX_SEED)


def number(
    name: str, value: Any, minimum: float | None = None, maximum: float | None = None, *, above: float | None = None
) -> float:
    """Return a finite number, also of NumPy's, from ``minimum``, or ``above`` a number, to ``maximum``."""
    try:
        number = float(value) if isinstance(value, Real) and not is_flag(value) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or not _within(number, minimum, maximum) or (above is not None and number <= above):
        beyond = f" over {above:g}" if above is not None else ""
        refuse(name, value, f"a finite number{beyond}{_range(minimum, maximum)}")
    return number


def flag(name: str, value: Any) -> bool:
    """Return True or False, also of NumPy's."""
    if not is_flag(value):
        refuse(name, value, "True or False")
    return bool(value)


def sequence(value: Any) -> list[Any] | None:
    """Return the items of a list, an array or the like; None: it is something else."""
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        return None
    try:
        return list(cast("Iterable[Any]", value))
    except TypeError:  # an array of no dimensions
        return None


def name(what: str, value: Any, most: int, expected: str = "") -> str:
    """Return a string of 1 to ``most`` characters."""
    if not isinstance(value, str) or not 0 < len(value) <= most:
        refuse(what, value, expected or f"a string of 1 to {most} characters")
    return value


def env_id(value: Any) -> str:
    return name("env_id", value, MAX_ENV_ID_CHARS, "RUNTIME.NAME, such as gym-core.PongDeterministic-v3")


def choice(name: str, value: Any, choices: Collection[str | None]) -> Any:
    if not (value is None or isinstance(value, str)) or value not in choices:
        refuse(name, value, f"one of {', '.join(map(repr, choices))}")
    return value


def integers(
    name: str, value: Any, meaning: Sequence[str], minimum: int | None = None, maximum: int | None = None
) -> tuple[int, ...]:
    expected = f"({', '.join(meaning)}): integers{_range(minimum, maximum)}"
    items = sequence(value)
    if items is None or len(items) != len(meaning):
        refuse(name, value, expected)
    try:
        return tuple(integer(name, item, minimum, maximum) for item in items)
    except ConfigurationError:
        refuse(name, value, expected)


def indices(name: str, value: Any, n: int) -> list[int]:
    items = sequence(value)
    if items is None:
        refuse(name, value, "a list of integers")
    return [integer(name, item, 0, n - 1) for item in items]


def picture_size(value: Any, name: str = "size") -> tuple[int, int] | None:
    """Return (height, width) in pixels; None: as it is."""
    if value is None:
        return None
    height, width = integers(name, value, ("height", "width"), 1, MAX_SIDE)
    return height, width


def mapping(name: str, value: Any) -> dict[str, Any]:
    """Return a mapping whose keys are strings, as a new dict; None: an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in cast("Mapping[Any, Any]", value)):
        refuse(name, value, "a mapping of names to values")
    return dict(cast("Mapping[str, Any]", value))


def instance(name: str, value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        refuse(name, value, f"{kind.__name__}(…)")
    return value


def is_flag(value: Any) -> bool:
    """Return whether it is True or False, also of NumPy's or in an array of no dimensions."""
    if isinstance(value, bool):
        return True
    return getattr(getattr(value, "dtype", None), "kind", None) == "b" and getattr(value, "shape", None) == ()


def refuse(name: str, value: Any, expected: str) -> NoReturn:
    """Raise the error of a wrong value."""
    shown = repr(value)
    raise ConfigurationError(f"{name} is {shown if len(shown) <= SHOWN else shown[:SHOWN] + '…'}; expected {expected}")


def _within(value: Any, minimum: float | None, maximum: float | None) -> bool:
    return (minimum is None or value >= minimum) and (maximum is None or value <= maximum)


def _range(minimum: float | None, maximum: float | None) -> str:
    if minimum is None:
        return "" if maximum is None else f", at most {maximum:g}"
    return f" of {minimum} or more" if maximum is None else f" of {minimum} to {maximum}"
