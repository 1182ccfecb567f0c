"""The ``file`` source: one value in a small file that the program writes, or its text."""

from __future__ import annotations

import configparser
import csv
import io
import json
import os
import stat
import time
from pathlib import Path
from typing import Any, Final, cast

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import FileSource
from pluriverse_server.sources.reading import MAX_TEXT_CHARS, SourceError

from .patterns import Matcher, number_or_text
from .reader import ProgramReader, Target

# Score files have some hundred bytes. A megabyte of JSON takes 10 ms to read.
MAX_FILE_BYTES: Final = 1024 * 1024

# A file system's clock ticks every few milliseconds, and two writes within a tick leave the same time: a file counts as
# unchanged only if it was older than this when it was read.
FRESH_S: Final = 0.1


class FileReader(ProgramReader):
    """Reads a value again when its file has changed. While the file is half written, the last value stands."""

    def __init__(self, table: FileSource, target: Target) -> None:
        self._table = table
        self._matcher = None if table.pattern is None else Matcher(table.pattern)
        self._path = target.path(table.file)
        self._seen: tuple[int, int, int, int] | None = None
        self._value: Value = None

    def look(self) -> Value:
        try:
            self._update(time.time())
        except (FileNotFoundError, NotADirectoryError):
            self._seen = self._value = None
        except OSError as error:
            raise SourceError(f"{self._path} can't be read: {error.strerror}") from error
        return self._value

    def _update(self, now: float) -> None:
        status = self._path.stat()
        found = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if found == self._seen:
            return
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{self._path} isn't a file; expected one with scores")
        try:
            text = _read(self._path)
            if self._table.key is not None:
                self._value = _find(text, self._table.format, self._table.key)
            else:
                self._value = number_or_text(text) if self._matcher is None else self._matcher.value(text)
        # configparser raises AttributeError for a line that continues one without a value.
        except (ValueError, AttributeError, RecursionError, configparser.Error, csv.Error):
            self._seen = None
            return
        self._seen = found if now - status.st_mtime > FRESH_S else None


def _read(path: Path) -> str:
    # Don't wait for a writer if the file has become a pipe.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise SourceError(f"{path} is over {MAX_FILE_BYTES} bytes; expected a small file of scores")
    return content.decode("utf-8-sig", errors="replace")


def _find(text: str, form: str, key: str) -> Value:
    """Return the value of ``key``; raise ValueError or the like if the text is malformed or incomplete."""
    if not text:
        raise ValueError("truncated, about to be written again")
    match form:
        case "json":
            return _in_json(json.loads(text), key.split("."))
        case "ini":
            return _in_ini(text, *key.rpartition(".")[::2])
        case _:
            row, _, column = key.partition(".")
            return _in_csv(text, int(row), column)


def _in_json(found: Any, path: list[str]) -> Value:
    for part in path:
        if isinstance(found, dict):
            found = cast("dict[str, Any]", found).get(part)
        elif isinstance(found, list):
            items = cast("list[Any]", found)
            found = items[int(part)] if part.isdecimal() and int(part) < len(items) else None
        else:
            return None
    if isinstance(found, str):
        return found[:MAX_TEXT_CHARS]
    return found if isinstance(found, (bool, int, float)) else None


def _in_ini(text: str, section: str, key: str) -> Value:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    # configparser wants a section.
    parser.read_string(text if section else f"[-]\n{text}")
    found = parser.get(section or "-", key, fallback=None)
    return number_or_text(found) if found is not None else None


def _in_csv(text: str, row: int, column: str) -> Value:
    rows = list(csv.reader(io.StringIO(text)))
    if row < 0 and rows and not text.endswith("\n"):
        # The last line is still being written.
        rows.pop()
    if not column.isdecimal():
        header, rows = (rows[0], rows[1:]) if rows else ([], [])
        if column not in header:
            return None
        column = str(header.index(column))
    if not -len(rows) <= row < len(rows) or int(column) >= len(rows[row]):
        return None
    return number_or_text(rows[row][int(column)])
