"""Values in the files that a program writes and in what it prints, each with the source that reads it. Blocking."""

from __future__ import annotations

import configparser
import contextlib
import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.program.patterns import Matcher, number_or_text
from pluriverse_server.sources.reading import SourceError

from .found import NUMBER, Found, number_pattern
from .looked_at import LookedAt

# Scores are in small files; of logs the end counts.
MAX_FILES: Final = 500
MAX_BYTES: Final = 256 * 1024
MAX_LINES: Final = 500

# Nobody's score: what toolkits keep.
_FOREIGN: Final = ("fontconfig", "mesa_shader_cache", "dconf", "gstreamer-1.0")


def values_in_files(program: LookedAt, printed: str) -> list[Found]:
    """Return all values in the program's files, and the last number in each kind of line of its logs and output."""
    found = list(_in_lines(printed, None))
    for path in _files(program):
        try:
            with path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - MAX_BYTES))
                text = file.read().decode()
        except (OSError, UnicodeDecodeError):
            # Gone meanwhile, or no text.
            continue
        name = str(path.relative_to(program.home)) if path.is_relative_to(program.home) else str(path)
        found += [*_in_document(text, name), *_in_lines(text, name)]
    return found


def _files(program: LookedAt) -> Iterator[Path]:
    seen = 0
    for folder, folders, names in os.walk(program.home):
        folders[:] = [name for name in folders if name not in _FOREIGN]
        for name in names:
            seen += 1
            if seen > MAX_FILES:
                return
            yield Path(folder, name)
    yield from (path for path in program.written_files() if not path.is_relative_to(program.home))


def _in_document(text: str, name: str) -> Iterator[Found]:
    """Yield the values of a file in JSON, INI or CSV; nothing if it can be none of them, though logs may look alike."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict | list):
        for key, value in _leaves(cast("Any", document), ""):
            yield _in_file(name, "json", key, value)
        return
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    with contextlib.suppress(configparser.Error):
        sections = text.lstrip().startswith(("[", "#", ";"))
        parser.read_string(text if sections else f"[-]\n{text}")
        for section in parser.sections():
            for key, value in parser.items(section):
                yield _in_file(name, "ini", key if section == "-" else f"{section}.{key}", number_or_text(value))
        return
    rows = list(csv.reader(io.StringIO(text)))
    if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
        for column, cell in enumerate(rows[-1]):
            yield _in_file(name, "csv", f"-1.{column}", number_or_text(cell))


def _in_file(name: str, kind: str, key: str, value: Value) -> Found:
    return Found(f"{key} in {name}", value, {"from": "file", "file": name, "format": kind, "key": key})


def _leaves(document: Any, path: str) -> Iterator[tuple[str, Value]]:
    items: Iterator[tuple[str, Any]] = iter(())
    if isinstance(document, dict):
        items = iter(cast("dict[str, Any]", document).items())
    elif isinstance(document, list):
        items = ((str(index), value) for index, value in enumerate(cast("list[Any]", document)))
    for key, value in items:
        # A key with a dot can't be named.
        if "." in key:
            continue
        place = f"{path}.{key}" if path else key
        if isinstance(value, dict | list):
            yield from _leaves(value, place)
        elif value is not None:
            yield place, value


def _in_lines(text: str, name: str | None) -> Iterator[Found]:
    """Yield each kind of line that has a number, with its last value."""
    where = f"in {name}" if name else "printed"
    tables: dict[str, Found] = {}
    for line in reversed(text.splitlines()[-MAX_LINES:]):
        for which in range(len(NUMBER.findall(line))):
            pattern = number_pattern(line, which)
            if pattern is None or len(pattern) > MAX_BYTES or pattern in tables:
                continue
            table = {"from": "log", "pattern": pattern, **({"file": name} if name else {})}
            with contextlib.suppress(SourceError):
                tables[pattern] = Found(f"“{line.strip()}” {where}", Matcher(pattern).value(line), table)
    yield from tables.values()
