"""Options of the engines that start remotes: ``docker:4?cpu=0.5&memory=1Gi``, one dataclass for each engine."""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from pluriverse.errors import ConfigurationError

T = TypeVar("T")

# As Kubernetes writes quantities of bytes.
_UNITS: Final[Mapping[str, int]] = {
    "": 1,
    **{f"{letter}i": 1024**power for power, letter in enumerate("KMGT", 1)},
    **{letter: 1000**power for power, letter in enumerate("kMGT", 1)},
}
_BYTES: Final = re.compile(r"([0-9]{1,12})([a-zA-Z]{0,2})")

# More cores, spares or seconds are never useful.
MAX_NUMBER: Final = 1_000_000.0


class Bytes(int):
    """A quantity of bytes, written ``268435456``, ``256Mi`` or ``300M``."""


def parse_options(engine: str, query: str, options: type[T]) -> T:
    """Return the options that ``query`` gives, ``name=value&name=value``; the rest have their defaults.

    ``options`` is a dataclass whose fields are ``str``, ``int``, ``float``, ``bool`` or ``Bytes``, or one of these or
    None.
    """
    kinds = typing.get_type_hints(options)
    known = ", ".join(field.name for field in dataclasses.fields(typing.cast("Any", options)))
    try:
        given = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError as error:
        raise ConfigurationError(
            f"the options {query!r} of {engine}: can't be read ({error}); expected name=value&name=value"
        ) from None
    values: dict[str, object] = {}
    for name, text in given:
        if name not in kinds:
            raise ConfigurationError(f"{engine}: has no option {name!r}; expected one of: {known}")
        if name in values:
            raise ConfigurationError(f"{engine}: the option {name!r} is given twice")
        convert, expected = _CONVERTERS[_plain(kinds[name])]
        try:
            values[name] = convert(text)
        except ValueError:
            raise ConfigurationError(f"{engine}: the option {name} is {text!r}, expected {expected}") from None
    try:
        return options(**values)
    except ValueError as error:
        raise ConfigurationError(f"{engine}: {error}") from None


def parse_bytes(text: str) -> Bytes:
    """Return a quantity of bytes; raise ``ValueError`` unless it is one."""
    match = _BYTES.fullmatch(text)
    if match is None or match[2] not in _UNITS:
        raise ValueError(text)
    return Bytes(int(match[1]) * _UNITS[match[2]])


def _plain(kind: Any) -> Any:
    """Return the type of a field without its None."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        (kind,) = (each for each in typing.get_args(kind) if each is not types.NoneType)
    return kind


def _number(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and 0 <= number <= MAX_NUMBER):
        raise ValueError(text)
    return number


def _whole(text: str) -> int:
    if not re.fullmatch("[0-9]{1,7}", text):
        raise ValueError(text)
    return int(text)


def _text(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError(text)
    return text


def _truth(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError(text)
    return text == "yes"


_CONVERTERS: Final[Mapping[Any, tuple[Callable[[str], object], str]]] = {
    str: (_text, "printable text"),
    int: (_whole, "a whole number from 0"),
    float: (_number, "a number from 0"),
    bool: (_truth, "yes or no"),
    Bytes: (parse_bytes, "bytes, such as 268435456, 256Mi or 300M"),
}
