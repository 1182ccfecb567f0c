"""Searches for what a person sees: "it is 120 now", "it is 140 now"; what had all of them is left. Blocking."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final

from pluriverse_server.authoring import AuthoringError

from .files import values_in_files
from .found import Found
from .looked_at import LookedAt
from .memory import MemorySearch
from .widgets import list_widgets, sources_of_widgets

# Of more than so many places nobody chooses.
MAX_SHOWN: Final = 40


class Search:
    """A search in one program, or in one page; a program that was started anew is another."""

    def __init__(self, program: LookedAt | None) -> None:
        """``program``: None for a page."""
        self._program = program
        self._kept: set[str] | None = None
        self._memory = MemorySearch(program.pids) if program is not None else None
        self.values: list[float | str] = []

    def suits(self, program: LookedAt | None) -> bool:
        """Return whether it is a search in this program."""
        return (self._program and self._program.pid) == (program and program.pid)

    def narrow(self, value: float | str, printed: str, of_page: Sequence[Found] = ()) -> tuple[list[Found], int]:
        """Keep what has ``value`` now; return what is left, and how many places of memory are, beside those listed.

        ``printed`` is the program's output so far; ``of_page`` are a page's values.
        """
        self.values.append(value)
        found = list(of_page)
        if self._program is not None:
            found += values_in_files(self._program, printed)
            if self._program.bus:
                # Most programs show none.
                with contextlib.suppress(AuthoringError):
                    found += sources_of_widgets(list_widgets(self._program.environment))
        here = [one for one in found if same(one.value, value)]
        if self._kept is not None:
            here = [one for one in here if one.key in self._kept]
        self._kept = {one.key for one in here}
        left = 0
        if self._memory is not None and not isinstance(value, str):
            self._memory.narrow(value)
            here += self._memory.sources()
            left = self._memory.count
        return here[:MAX_SHOWN], left


def same(found: object, seen: float | str) -> bool:
    """Return whether a value that was found is the one that was seen, which is never yes or no."""
    if isinstance(found, bool):
        return False
    if isinstance(seen, str):
        return isinstance(found, str) and found.strip() == seen
    return isinstance(found, int | float) and float(found) == seen
