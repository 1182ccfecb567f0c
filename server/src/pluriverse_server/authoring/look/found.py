"""What a search has found: a place with a value, and the source that reads it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pluriverse_server.manifest.conditions import Value

NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Found:
    """A place, described by ``how``, with its ``value``; ``table`` is a source's, or of a page ``{"value": …}``."""

    how: str
    value: Value
    table: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What tells it from others, whatever its value is."""
        return json.dumps(self.table, sort_keys=True)


def number_pattern(line: str, which: int = 0) -> str | None:
    """Return the pattern of lines such as this one, in which the number at ``which`` is the value; None without it.

    Other numbers may be any, so that the pattern matches what the line says next.
    """
    numbers = list(NUMBER.finditer(line))
    if which >= len(numbers):
        return None
    parts: list[str] = []
    end = 0
    for index, number in enumerate(numbers):
        parts.append(re.escape(line[end : number.start()]).replace(r"\ ", " "))
        parts.append(f"(?P<value>{NUMBER.pattern})" if index == which else NUMBER.pattern)
        end = number.end()
    parts.append(re.escape(line[end:]).replace(r"\ ", " "))
    return f"^{''.join(parts)}$"
