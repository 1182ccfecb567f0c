"""What stands in braces in a command's words or in an address, and what is put in its place. Pure."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

KNOWN: Final = ("env", "env.<key>", "seed", "fps", "home")


class MissingValue(Exception):
    """There is no value for a placeholder; its only argument is the name."""


def placeholders(templates: Iterable[str]) -> list[str]:
    """The names, as they stand there.

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
    """Let pass only what there can be a value for.

    Raises:
        ValueError: there is another placeholder, or a brace without its partner.
    """
    for name in placeholders(templates):
        if name not in ("env", "seed", "fps", "home") and not re.fullmatch(r"env\.\w+", name):
            known = ", ".join(f"{{{placeholder}}}" for placeholder in KNOWN)
            raise ValueError(f"unknown placeholder {{{name}}}; known: {known}")


def fill(template: str, values: Mapping[str, Any], write: Callable[[str], str] = str) -> str:
    """The template with each placeholder replaced by its value, as ``write`` writes it.

    Raises:
        MissingValue: there is none for one of them.
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
