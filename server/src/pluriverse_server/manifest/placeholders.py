"""Placeholders in braces in commands and addresses. Pure."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

KNOWN: Final = ("env", "env.<key>", "seed", "fps", "home")


class MissingValue(Exception):
    """A placeholder has no value; the only argument is its name."""


def placeholders(templates: Iterable[str]) -> list[str]:
    """Return the placeholders as they are written.

    Raises:
        ValueError: a brace has no partner.
    """
    return [
        f"{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}"
        for template in templates
        for _, name, spec, conversion in string.Formatter().parse(template)
        if name is not None
    ]


def check_known(templates: Iterable[str]) -> None:
    """Check that each placeholder can have a value.

    Raises:
        ValueError: a placeholder is unknown, or a brace has no partner.
    """
    for name in placeholders(templates):
        if name not in ("env", "seed", "fps", "home") and not re.fullmatch(r"env\.\w+", name):
            known = ", ".join(f"{{{placeholder}}}" for placeholder in KNOWN)
            raise ValueError(f"unknown placeholder {{{name}}}; known: {known}")


def fill(template: str, values: Mapping[str, Any], write: Callable[[str], str] = str) -> str:
    """Return the template with each placeholder replaced by ``write`` of its value.

    Raises:
        MissingValue: a placeholder has no value.
    """
    parts: list[str] = []
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(literal)
        if name is None:
            continue
        if values.get(name) is None:
            raise MissingValue(name)
        parts.append(write(str(values[name])))
    return "".join(parts)
