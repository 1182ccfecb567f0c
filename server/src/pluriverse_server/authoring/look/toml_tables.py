"""Writes tables into the text of a TOML document; all else stays as a person wrote it. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_HEADER: Final = re.compile(r"\s*(?P<brackets>\[\[?)[^\[\]]+\]\]?\s*(#.*)?")

# Arrays of tables are written a table to a line; others on one line.
_INDENT: Final = "  "


class TableWrittenOtherwise(ValueError):
    """A table is in the document, but not under a header of its own; the message says which."""


@dataclass(frozen=True, slots=True)
class _Header:
    row: int
    path: tuple[str, ...]
    is_array: bool


def with_table(text: str, path: tuple[str, ...], values: Mapping[str, Any], comment: str = "") -> str:
    """Return the document with the table at ``path``, such as ``("sources", "score")``, in the place of one there.

    ``comment`` stands above it, and so did that of the table that it replaces.

    Raises:
        TableWrittenOtherwise: it is there as ``score = { … }``, or as keys with dots.
    """
    rows = _rows(text)
    written = _written(f"[{_dotted(path)}]", values, comment)
    headers = _headers(rows)
    for index, header in enumerate(headers):
        if header.path == path and not header.is_array:
            first, last = _block(rows, headers, index)
            return "\n".join([*rows[:first], *written, *rows[last:]]) + "\n"
    document: Any = tomllib.loads(text)
    for key in path:
        document = cast("dict[str, Any]", document).get(key) if isinstance(document, dict) else None
    if document is not None and not any(header.path[: len(path)] == path for header in headers):
        raise TableWrittenOtherwise(f"[{_dotted(path)}] is written in another way; change it by hand")
    return _appended(rows, written)


def with_element(text: str, name: str, values: Mapping[str, Any], comment: str = "") -> str:
    """Return the document with one more ``[[name]]``, at its end."""
    return _appended(_rows(text), _written(f"[[{name}]]", values, comment))


def without_table(text: str, path: tuple[str, ...]) -> str:
    """Return the document without the table at ``path``, and the comment above it."""
    rows = _rows(text)
    headers = _headers(rows)
    for index, header in enumerate(headers):
        if header.path == path and not header.is_array:
            first, last = _block(rows, headers, index)
            while first and last < len(rows) and not rows[last].strip():
                last += 1
            return "\n".join([*rows[:first], *rows[last:]]).rstrip("\n") + "\n"
    return text


def written_value(value: Any) -> str:
    """Return a value as TOML writes it: strings, numbers, truth values, lists and tables in a line."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() if "\\" in value and "'" not in value and value.isprintable():
            # Patterns are easier to read without backslashes of TOML's own.
            return f"'{value}'"
        case str():
            return _quoted(value)
        case int() | float():
            return repr(value)
        case list() | tuple():
            return f"[{', '.join(map(written_value, cast('list[Any]', value)))}]"
        case Mapping():
            table = cast("Mapping[str, Any]", value)
            return f"{{ {', '.join(f'{_key(key)} = {written_value(part)}' for key, part in table.items())} }}"
        case _:
            raise TypeError(f"TOML has no {type(value).__name__}")


def _written(header: str, values: Mapping[str, Any], comment: str) -> list[str]:
    # Comments are of one line each, without control characters.
    said = ("".join(letter if letter.isprintable() else " " for letter in line) for line in comment.splitlines())
    rows = [*(f"# {line}".rstrip() for line in said), header]
    for key, value in values.items():
        if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in cast("list[Any]", value)):
            parts = [f"{_INDENT}{written_value(part)}," for part in cast("list[Any]", value)]
            rows += [f"{_key(key)} = [", *parts, "]"]
        else:
            rows.append(f"{_key(key)} = {written_value(value)}")
    return rows


def _rows(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _appended(rows: list[str], written: list[str]) -> str:
    gap = [""] if rows and rows[-1].strip() else []
    return "\n".join([*rows, *gap, *written]) + "\n"


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    # TOML escapes what JSON does, and one character more.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _headers(rows: list[str]) -> list[_Header]:
    """Return the headers of tables; what only looks like one, within a string or an array, is left out."""
    found: list[_Header] = []
    for row, line in enumerate(rows):
        match = _HEADER.fullmatch(line)
        if match is None or not _parses("\n".join(rows[:row])):
            continue
        try:
            document: Any = tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            continue
        path: list[str] = []
        while document:
            if isinstance(document, list):
                document = cast("list[Any]", document)[0]
                continue
            path.append(next(iter(cast("dict[str, Any]", document))))
            document = document[path[-1]]
        found.append(_Header(row, tuple(path), match["brackets"] == "[["))
    return found


def _parses(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _block(rows: list[str], headers: list[_Header], index: int) -> tuple[int, int]:
    """Return the rows of a table: from the comment above it to its last key, with the tables below it."""
    path = headers[index].path
    first, after = headers[index].row, index + 1
    while first and rows[first - 1].startswith("#"):
        first -= 1
    while after < len(headers) and headers[after].path[: len(path)] == path and len(headers[after].path) > len(path):
        after += 1
    last = headers[after].row if after < len(headers) else len(rows)
    # What stands above the next header belongs to that.
    while last > headers[index].row + 1 and (not rows[last - 1].strip() or rows[last - 1].startswith("#")):
        last -= 1
    return first, last
