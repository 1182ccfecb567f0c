"""Mistakes in a runtime's files, each with its file, line and remedy; those that the models find among them."""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from pluriverse_server.manifest.sources import KINDS

from .validate_lines import Path as KeyPath
from .validate_lines import line_of, lines_of

# A value is quoted so far; more of it is in the file.
_QUOTED_CHARS: Final = 80

# How a value of the right type is written, by what pydantic calls its absence.
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
    """One mistake, or one ``warning``: what works but is likely to give wrong rewards."""

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
        """``text`` is TOML."""
        self.file = file
        self._rows = text.split("\n")
        self._lines = lines_of(text)

    def has(self, *path: str | int) -> bool:
        """Whether the file says anything about a key."""
        return path in self._lines

    def problem(self, path: KeyPath, message: str, *, warning: bool = False) -> Problem:
        """A problem of the key at ``path``."""
        return Problem(self.file, line_of(self._lines, path), dotted(path), message, warning)

    def problem_of_a_table(self, path: KeyPath, message: str) -> Problem:
        """One that is told of a table but names the key it is about: ``episode.done names the source 'x', …``."""
        for named in re.findall(r"[a-z_]+(?:\.[a-z_]+)*", message):
            place = (*path, *named.split("."))
            if place in self._lines:
                lines = self._lines_below(place)
                line = next(iter(self._with_quoted(message, lines)), lines[0])
                return Problem(self.file, line, dotted(place), message.removeprefix(dotted(place)).lstrip())
        # What is there twice was right the first time.
        twice = self._with_quoted(message, self._lines_below(path))[-1:]
        return Problem(self.file, twice[0], dotted(path), message) if twice else self.problem(path, message)

    def _lines_below(self, place: KeyPath) -> list[int]:
        return sorted({line for path, line in self._lines.items() if path[: len(place)] == place})

    def _with_quoted(self, message: str, lines: Sequence[int]) -> list[int]:
        """Those of the lines that have what the message quotes."""
        quoted = re.search(r"'([^']+)'", message)
        if quoted is None:
            return []
        word = re.compile(rf"(?<!\w){re.escape(quoted[1])}(?!\w)")
        return [line for line in lines if word.search(self._rows[line - 1])]


def dotted(path: KeyPath) -> str:
    """A path as it is written: ``reset.steps[0].until``."""
    key = ""
    for part in path:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key


def problems_of(document: Document, model: type[BaseModel], error: ValidationError) -> list[Problem]:
    """What a model found wrong with a document."""
    found: list[Problem] = []
    for details in error.errors(include_url=False):
        location = tuple(part for part in details["loc"] if part != "[key]")
        path = location
        if len(location) > 2 and location[0] == "sources" and location[2] in KINDS:
            # Which class a source was taken for is no key of the file.
            path = (*location[:2], *location[3:])
        if details["type"] == "value_error" and _is_table(details["input"]):
            found.append(document.problem_of_a_table(path, _reason(details)))
        else:
            found.append(document.problem(path, _explain(details, location, model)))
    return found


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelled most like ``name``, if any is."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), None)


def _explain(details: ErrorDetails, location: KeyPath, model: type[BaseModel]) -> str:
    kind, value = details["type"], details["input"]
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
    """The keys that the table at ``path`` may have; where it is one of several classes, its tag is in the path."""
    kinds: list[Any] = [model]
    for part in path:
        kinds = [inner for kind in kinds for inner in _inner(kind, part)]
    models = [kind for kind in kinds for kind in _models(kind)]
    return list(dict.fromkeys(field.alias or name for kind in models for name, field in kind.model_fields.items()))


def _models(kind: Any) -> list[type[BaseModel]]:
    """The models that a value of this type may be."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    if get_origin(kind) in (Annotated, Union, types.UnionType):
        return [model for inner in _alternatives(kind) for model in _models(inner)]
    return []


def _inner(kind: Any, part: str | int) -> list[Any]:
    """The types of what is at ``part`` in a value of this type."""
    origin = get_origin(kind)
    if origin in (Annotated, Union, types.UnionType):
        tagged = [inner for inner in _alternatives(kind) if part in _tags(inner)]
        return tagged or [found for inner in _alternatives(kind) for found in _inner(inner, part)]
    if origin in (list, dict):
        return [get_args(kind)[-1]]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        hints: Mapping[str, Any] = typing.get_type_hints(kind, include_extras=True)
        return [hints[name] for name, field in kind.model_fields.items() if part == (field.alias or name)]
    return []


def _alternatives(kind: Any) -> Sequence[Any]:
    return get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)


def _tags(kind: Any) -> list[str]:
    marks = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return [mark.tag for mark in marks if isinstance(mark, Tag)]
