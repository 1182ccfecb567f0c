"""A manifest's regular expressions on text that a program wrote, with a time limit."""

from __future__ import annotations

import re
from typing import Final

import regex

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import MAX_TEXT_CHARS, SourceError

# A line takes some microseconds; a pattern that backtracks exponentially would block everything.
MATCH_TIMEOUT_S: Final = 0.25

# Floats can't represent longer integers exactly.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def number_or_text(text: str) -> Value:
    """Return a number if the text is one, else the stripped text, at most ``MAX_TEXT_CHARS`` of it."""
    stripped = text.strip()[:MAX_TEXT_CHARS]
    if _INTEGER.fullmatch(stripped):
        return int(stripped)
    return float(stripped) if _NUMBER.fullmatch(stripped) else stripped


class Matcher:
    """One pattern. If it has a group ``value``, that is the value of a match."""

    def __init__(self, pattern: str) -> None:
        self._pattern = regex.compile(pattern)
        self.has_value = "value" in self._pattern.groupindex

    def search(self, text: str) -> regex.Match[str] | None:
        try:
            # Keep the interpreter's lock: releasing it for each of a thousand lines would cost far more.
            return self._pattern.search(text, timeout=MATCH_TIMEOUT_S, concurrent=False)
        except TimeoutError:
            raise SourceError(
                f"its pattern took over {MATCH_TIMEOUT_S} s on the text {text!r:.120}; "
                "write one without nested repetitions"
            ) from None

    def value(self, text: str) -> Value:
        """Return the value of the group, or None without a match; for a pattern without group, whether it matches."""
        match = self.search(text)
        if not self.has_value:
            return match is not None
        return value_of(match) if match is not None else None


def value_of(match: regex.Match[str]) -> Value:
    found = match["value"]
    return number_or_text(found) if found is not None else None
