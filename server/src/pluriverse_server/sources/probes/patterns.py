"""Regular expressions of a manifest on what a program wrote: they can't run for ever."""

from __future__ import annotations

import re
from typing import Final

import regex

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import MAX_TEXT_CHARS, SourceError

# A line takes some microseconds; a pattern that backtracks without end would take for ever, and everything with it.
MATCH_TIMEOUT_S: Final = 0.25

# Longer ones are no longer told apart from their neighbours by a float.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def number_or_text(text: str) -> Value:
    """What is written as a number, as a number; anything else as it is, at most ``MAX_TEXT_CHARS`` of it."""
    stripped = text.strip()[:MAX_TEXT_CHARS]
    if _INTEGER.fullmatch(stripped):
        return int(stripped)
    return float(stripped) if _NUMBER.fullmatch(stripped) else stripped


class Matcher:
    """One pattern. With a group ``value``, that is what a match says."""

    def __init__(self, source: str, pattern: str) -> None:
        self._source = source
        self._pattern = regex.compile(pattern)
        self.has_value = "value" in self._pattern.groupindex

    def search(self, text: str) -> regex.Match[str] | None:
        """The first match.

        Raises:
            SourceError: it takes too long.
        """
        try:
            # With the interpreter's lock held: to give it away for each of a thousand lines would cost far more.
            return self._pattern.search(text, timeout=MATCH_TIMEOUT_S, concurrent=False)
        except TimeoutError:
            raise SourceError(
                f"source {self._source!r}: its pattern took over {MATCH_TIMEOUT_S} s on the text {text!r:.120}; "
                "write one that can fail in one way alone, without nested repetitions"
            ) from None

    def value(self, text: str) -> Value:
        """What ``text`` says: the group's value, None without a match; for a pattern without group, whether it matches.

        Raises:
            SourceError: matching takes too long.
        """
        match = self.search(text)
        if not self.has_value:
            return match is not None
        return value_of(match) if match is not None else None


def value_of(match: regex.Match[str]) -> Value:
    """What its group ``value`` says; None if that has no part in the match."""
    found = match["value"]
    return number_or_text(found) if found is not None else None
