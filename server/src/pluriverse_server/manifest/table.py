"""The base of every table of runtime.toml, and the strings in it that have a syntax of their own. Pure."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from .conditions import names_in


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _check_pattern(pattern: str) -> None:
    # Imported here: only runtimes with [sources] need it.
    import regex

    try:
        regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"expected a regular expression: {error}") from None


# Placeholders in braces, in commands and addresses.
KNOWN: Final = ("env", "env.<key>", "options.<name>", "task.<name>", "seed", "fps", "home")


class MissingValue(Exception):
    """A placeholder has no value; the only argument is its name."""


def placeholders(templates: Iterable[str]) -> list[str]:
    """Return the placeholders as they are written; raise ValueError if a brace has no partner."""
    return [
        f"{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}"
        for template in templates
        for _, name, spec, conversion in string.Formatter().parse(template)
        if name is not None
    ]


def check_known(templates: Iterable[str]) -> None:
    for name in placeholders(templates):
        if name not in ("env", "seed", "fps", "home") and not re.fullmatch(r"(env|options|task)\.\w+", name):
            known = ", ".join(f"{{{placeholder}}}" for placeholder in KNOWN)
            raise ValueError(f"unknown placeholder {{{name}}}; known: {known}")


def fill(template: str, values: Mapping[str, Any], write: Callable[[str], str] = str) -> str:
    parts: list[str] = []
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(literal)
        if name is None:
            continue
        if values.get(name) is None:
            raise MissingValue(name)
        parts.append(write(str(values[name])))
    return "".join(parts)


def checked(check: Callable[[Any], object]) -> AfterValidator:
    """Return the annotation of a value that is taken as it is unless ``check`` raises ValueError."""

    def validate(value: Any) -> Any:
        check(value)
        return value

    return AfterValidator(validate)


def spelt(pattern: str, expected: str) -> AfterValidator:
    """Return the annotation of a text that matches the whole ``pattern``; ``expected`` describes these texts."""
    compiled = re.compile(pattern)

    def check(text: str) -> None:
        if not compiled.fullmatch(text):
            raise ValueError(f"expected {expected}")

    return checked(check)


_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s)")


def seconds(duration: str) -> float:
    """Return the seconds of a duration such as ``0.3 s`` or ``300 ms``; raise ValueError if it isn't one."""
    written = _DURATION.fullmatch(duration)
    if written is None:
        raise ValueError('expected a number and its unit, such as "0.3 s" or "300 ms"')
    return float(written[1]) / (1000 if written[2] == "ms" else 1)


def _in_a_unit(duration: Any) -> Any:
    if not isinstance(duration, str):
        raise ValueError('expected a number and its unit in quotes, such as "0.3 s" or "300 ms"')
    return duration


Duration = Annotated[str, checked(seconds), BeforeValidator(_in_a_unit)]
Condition = Annotated[str, checked(names_in)]
Conditions = Annotated[dict[str, str], checked(lambda by_reason: [names_in(text) for text in by_reason.values()])]
Pattern = Annotated[str, Field(min_length=1, max_length=4096), checked(_check_pattern)]
Template = Annotated[str, Field(min_length=1, max_length=4096), checked(lambda text: check_known([text]))]
Command = Annotated[list[str], Field(min_length=1), checked(check_known)]
Name = Annotated[str, Field(min_length=1, max_length=4096)]
