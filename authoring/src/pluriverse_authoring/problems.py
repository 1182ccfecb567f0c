"""Mistakes in a runtime's files, each with its file, line and remedy. Pure."""

from __future__ import annotations

import difflib
import itertools
import re
import tomllib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeGuard, Union, cast, get_args, get_origin

from pluriverse_server.manifest.runtime import KeyPath, dotted, key_path
from pluriverse_server.manifest.sources import KINDS
from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

# What may end a statement in the middle of it: a string of several lines, and arrays and tables around it.
_CLOSINGS: Final = [
    quotes + "".join(brackets)
    for depth in range(5)
    for brackets in itertools.product("]}", repeat=depth)
    for quotes in ("", '"""', "'''")
]

# How much of a value is quoted.
_QUOTED_CHARS: Final = 80

# How a value of the right type is written, by pydantic's type of error.
_WRITTEN: Final = {
    "string_type": 'write it in quotes: "…"',
    "int_type": "write a whole number, without quotes",
    "float_type": "write a number, without quotes",
    "bool_type": "write true or false",
    "list_type": "write it in brackets: [ … ]",
    "dict_type": "write it as a table: { … }",
    "model_type": "write it as a table: { … }",
    "model_attributes_type": "write it as a table: { … }",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake, or a ``warning`` of what works but is likely to give wrong rewards."""

    file: Path
    line: int
    key: str
    message: str
    warning: bool = False

    def __str__(self) -> str:
        parts = [f"{self.file}:{self.line}", *(["warning"] if self.warning else []), *([self.key] if self.key else [])]
        return ": ".join([*parts, self.message])


class Document:
    """One TOML file: its text, and the line of each of its keys."""

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self._rows = text.split("\n")
        self._lines = lines_of(text)

    def problem(self, path: KeyPath, message: str, *, warning: bool = False) -> Problem:
        return Problem(self.file, line_of(self._lines, path), dotted(path), message, warning)

    def problem_of_a_table(self, path: KeyPath, message: str) -> Problem:
        """Make a problem of the key that the message about a table names: ``episode.done names the source 'x', …``."""
        for named in re.findall(r"[a-z_]+(?:\.[a-z_]+)*", message):
            place = (*path, *named.split("."))
            if place in self._lines:
                lines = self._lines_below(place)
                line = next(iter(self._with_quoted(message, lines)), lines[0])
                return Problem(self.file, line, dotted(place), message.removeprefix(dotted(place)).lstrip())
        # Of something that is there twice, the first is right.
        twice = self._with_quoted(message, self._lines_below(path))[-1:]
        return Problem(self.file, twice[0], dotted(path), message) if twice else self.problem(path, message)

    def _lines_below(self, place: KeyPath) -> list[int]:
        return sorted({line for path, line in self._lines.items() if path[: len(place)] == place})

    def _with_quoted(self, message: str, lines: Sequence[int]) -> list[int]:
        """Return those of the lines that contain what the message quotes."""
        quoted = re.search(r"'([^']+)'", message)
        if quoted is None:
            return []
        word = re.escape(quoted[1])
        # An id may be the beginning of another.
        for pattern in (rf"""(["']){word}\1""", rf"(?<!\w){word}(?!\w)"):
            if found := [line for line in lines if re.search(pattern, self._rows[line - 1])]:
                return found
        return []


def problems_of(document: Document, model: type[BaseModel], error: ValidationError) -> list[Problem]:
    found: list[Problem] = []
    for details in error.errors(include_url=False):
        path = key_path(details["loc"])
        if details["type"] == "value_error" and _is_table(details["input"]):
            found.append(document.problem_of_a_table(path, _reason(details)))
        else:
            found.append(document.problem(path, _explain(details, model)))
    return found


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), None)


def _explain(details: ErrorDetails, model: type[BaseModel]) -> str:
    kind, value, location = details["type"], details["input"], details["loc"]
    last = str(location[-1]) if location else ""
    if kind == "extra_forbidden":
        return _unknown(last, known_keys(model, location[:-1]), model)
    if kind == "missing":
        return f"missing; add a line with {last} = … here"
    reason = _reason(details)
    if kind == "unknown_source":
        table = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        wrong = "read" if table.get("from") == "screen" else "from"
        near = did_you_mean(str(table.get(wrong, "")), KINDS | {"screen"})
        return f'{reason}; did you mean {wrong} = "{near}"?' if near else reason
    message = f"{reason}, got {value!r:.{_QUOTED_CHARS}}"
    if kind == "literal_error" and isinstance(value, str):
        near = did_you_mean(value, re.findall(r"'([^']*)'", str(details.get("ctx", {}).get("expected", ""))))
        return f'{message}; did you mean "{near}"?' if near else message
    return f"{message}; {_WRITTEN[kind]}" if kind in _WRITTEN else message


def _reason(details: ErrorDetails) -> str:
    message = details["msg"].removeprefix("Value error, ")
    return message[0].lower() + message[1:]


def _unknown(name: str, known: Sequence[str], model: type[BaseModel]) -> str:
    if near := did_you_mean(name, known):
        return f'unknown key; did you mean "{near}"?'
    if name in known_keys(model, ()):
        return "unknown key here; it belongs to the top of the file, above the first table"
    elsewhere = [table for table in known_keys(model, ()) if name in known_keys(model, (table,))]
    if elsewhere:
        return f"unknown key here; it belongs into {' or '.join(f'[{table}]' for table in elsewhere)}"
    return f"unknown key; known here: {', '.join(known)}"


def _is_table(value: Any) -> bool:
    return isinstance(value, (dict, BaseModel))


def known_keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Return the possible keys of the table at ``path``; if it is one of several classes, its tag is in the path."""
    kinds: list[Any] = [model]
    for part in path:
        found = [alternative for kind in kinds for alternative in _alternatives(kind)]
        tagged = [kind for kind, tag in found if tag == part]
        kinds = tagged or [inner for kind, _ in found for inner in _inner(kind, part)]
    models = [kind for given in kinds for kind, _ in _alternatives(given) if _is_model(kind)]
    return list(dict.fromkeys(field.alias or name for kind in models for name, field in kind.model_fields.items()))


def _alternatives(kind: Any, tag: str | None = None) -> Iterator[tuple[Any, str | None]]:
    """Yield the plain types that a value of this type may have, each with its tag."""
    if get_origin(kind) is Annotated:
        inner, *marks = get_args(kind)
        yield from _alternatives(inner, next((mark.tag for mark in marks if isinstance(mark, Tag)), tag))
    elif get_origin(kind) in (Union, types.UnionType):
        for inner in get_args(kind):
            yield from _alternatives(inner, tag)
    else:
        yield kind, tag


def _inner(kind: Any, part: str | int) -> list[Any]:
    """Return the types of what is at ``part`` in a value of this plain type."""
    if get_origin(kind) in (list, dict):
        return [get_args(kind)[-1]]
    if not _is_model(kind):
        return []
    hints: Mapping[str, Any] = typing.get_type_hints(kind, include_extras=True)
    return [hints[name] for name, field in kind.model_fields.items() if part == (field.alias or name)]


def _is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def lines_of(text: str) -> Mapping[KeyPath, int]:
    """Return the line, from 1, of each table, key and array element of a text that ``tomllib`` has parsed."""
    lines: dict[KeyPath, int] = {}
    last: dict[KeyPath, int] = {}
    table: KeyPath = ()
    statement = ""
    for line, row in enumerate(text.split("\n"), 1):
        statement += f"{row}\n"
        # Each statement is a document of its own; of one that goes on, what is there already can be closed.
        for closing in _CLOSINGS:
            try:
                said = tomllib.loads(statement + closing)
            except tomllib.TOMLDecodeError:
                continue
            if statement.lstrip().startswith("["):
                table = _table(said, last)
                paths = [table[:depth] for depth in range(1, len(table) + 1)]
            else:
                paths = [(*table, *path) for path in _paths(said)]
            for path in paths:
                lines.setdefault(path, line)
            statement = statement if closing else ""
            break
    return lines


def _table(said: dict[str, Any], last: dict[KeyPath, int]) -> KeyPath:
    """Return the path of the table that a header begins; ``last`` are the last indices of the arrays of tables."""
    parts: list[str | int] = []
    inner: object = said
    while isinstance(inner, dict) and inner:
        ((name, inner),) = cast("dict[str, object]", inner).items()
        parts.append(name)
        path = tuple(parts)
        if isinstance(inner, list):
            last[path] = last.get(path, -1) + 1
        if path in last:
            # A table below an array of tables belongs to the array's last.
            parts.append(last[path])
    return tuple(parts)


def _paths(value: Any) -> Iterator[KeyPath]:
    """Yield the paths of all that is in a value, what is outside first."""
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        items = enumerate(cast("list[Any]", value))
    for key, inner in items:
        yield (key,)
        yield from ((key, *path) for path in _paths(inner))


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """Return the line of a key, or else of its table; the first, if the document has none of them."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)
