"""Where in a TOML file each key is: what the parser of the standard library doesn't tell. Pure.

For texts that ``tomllib`` has parsed, so that nothing here needs to be refused.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Final, cast

# As pydantic's: keys, and indices of arrays.
Path = tuple[str | int, ...]

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR: Final = re.compile(r"[^,\]}#\n]+")
_STRINGS: Final = (
    re.compile(r'"""(?:\\.|[^\\])*?"""(?:"{0,2})', re.DOTALL),
    re.compile(r"'''.*?'''(?:'{0,2})", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\\n])*"'),
    re.compile(r"'[^'\n]*'"),
)


def lines_of(text: str) -> Mapping[Path, int]:
    """The line, from 1, of each table, key and element of an array in a TOML document."""
    scanner = _Scanner(text)
    scanner.scan()
    return scanner.lines


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """The line of a key, or else of the table it is or would be in; the first, where the document has none of them."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._text = text
        self._at = 0
        self._counted_to = 0
        self._line = 1
        # How many tables each array of tables has so far.
        self._tables: dict[Path, int] = {}

    def scan(self) -> None:
        table: Path = ()
        self._skip_blank()
        while self._at < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
            self._skip_blank()

    def _header(self) -> Path:
        several = self._text.startswith("[[", self._at)
        line = self._line_here()
        self._at += 2 if several else 1
        parts: list[str | int] = []
        names = self._key()
        for depth, name in enumerate(names):
            parts.append(name)
            path = tuple(parts)
            self._note(path, line)
            if several and depth == len(names) - 1:
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                # A table below an array of tables belongs to the array's last.
                parts.append(self._tables[path])
                self._note(tuple(parts), line)
        self._at = self._text.index("]", self._at) + (2 if several else 1)
        return tuple(parts)

    def _pair(self, table: Path) -> None:
        line = self._line_here()
        path = table
        for name in self._key():
            path = (*path, name)
            self._note(path, line)
        self._at = self._text.index("=", self._at) + 1
        self._skip_blank()
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._text.startswith("{", self._at):
            self._at += 1
            while not self._ends("}"):
                self._pair(path)
        elif self._text.startswith("[", self._at):
            self._at += 1
            index = 0
            while not self._ends("]"):
                self._note((*path, index), self._line_here())
                self._value((*path, index))
                index += 1
        elif not self._string():
            found = _SCALAR.match(self._text, self._at)
            assert found is not None
            self._at = found.end()

    def _ends(self, bracket: str) -> bool:
        """Past blanks and a comma: whether the bracket closes, which is passed as well."""
        self._skip_blank()
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip_blank()
        closes = self._text.startswith(bracket, self._at)
        self._at += closes
        return closes

    def _key(self) -> list[str]:
        names: list[str] = []
        while True:
            self._skip_blank()
            start = self._at
            if bare := _BARE_KEY.match(self._text, start):
                self._at = bare.end()
                names.append(bare[0])
            else:
                self._string()
                quoted = tomllib.loads(f"name = {self._text[start : self._at]}")
                names.append(cast("str", quoted["name"]))
            self._skip_blank()
            if not self._text.startswith(".", self._at):
                return names
            self._at += 1

    def _string(self) -> bool:
        found = next((found for kind in _STRINGS if (found := kind.match(self._text, self._at))), None)
        if found is not None:
            self._at = found.end()
        return found is not None

    def _skip_blank(self) -> None:
        found = _BLANK.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted_to, self._at)
        self._counted_to = self._at
        return self._line

    def _note(self, path: Path, line: int) -> None:
        self.lines.setdefault(path, line)
