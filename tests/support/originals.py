"""Compares an interface with the original of its kind, and keeps the comparison's table in docs/interfaces.md true."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

DOCUMENT: Final = Path(__file__).parents[2] / "docs/interfaces.md"

# Set by ``make docs``: the tables are written instead of compared.
WRITE: Final = "PLURIVERSE_WRITE_DOCS"

SAME: Final = "same"


@dataclass(frozen=True, slots=True)
class Row:
    """One name or behaviour of the original's: ``same``, or why it isn't."""

    name: str
    verdict: str = SAME

    def __post_init__(self) -> None:
        assert self.verdict == SAME or self.verdict.startswith(("differs: ", "can't: ")), self.verdict


def compare(name: str, same: bool, reasons: Mapping[str, str]) -> Row:
    """Return the row of what was tried; what isn't the same needs a reason, and what is may have none."""
    if same:
        assert name not in reasons, f"{name} is the same: remove its reason"
        return Row(name)
    assert name in reasons, f"{name} isn't the original's, and no reason is given"
    return Row(name, reasons[name])


def compare_members(
    prefix: str, ours: Any, theirs: Any, reasons: Mapping[str, str], names: Iterable[str] | None = None
) -> list[Row]:
    """Compare the public members of two modules, classes or objects, by name and signature."""
    chosen = [each for each in dir(theirs) if not each.startswith("_")] if names is None else names
    return [compare(f"{prefix}{name}", _is_same(ours, theirs, name), reasons) for name in chosen]


def accepts(ours: Callable[..., Any], theirs: Callable[..., Any]) -> bool:
    """Return whether every call that fits the original's signature fits ours, with the same defaults."""
    try:
        mine, original = (list(inspect.signature(each).parameters.values()) for each in (ours, theirs))
    except (TypeError, ValueError):  # it is written in C
        return True
    anything = {each.kind for each in mine} & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    by_name = {each.name: each for each in mine}
    for place, parameter in enumerate(original):
        if parameter.kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL):
            if parameter.kind not in anything:
                return False
            continue
        own = by_name.get(parameter.name)
        if own is None:
            if inspect.Parameter.VAR_KEYWORD in anything and parameter.kind is not parameter.POSITIONAL_ONLY:
                continue
            return False
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and mine.index(own) != place:
            return False
        if own.default != parameter.default and own.default is own.empty:
            return False
    needed = {each.name for each in mine if each.default is each.empty and each.kind not in anything}
    return needed <= {each.name for each in original}


def check_table(interface: str, rows: Iterable[Row]) -> None:
    """Fail unless the interface's table in the documentation says this; ``make docs`` writes it."""
    lines = [f"| `{row.name}` | {row.verdict} |" for row in rows]
    table = "\n".join(("| the original's | ours |", "| --- | --- |", *lines)) + "\n"
    begin, end = f"<!-- begin {interface} -->\n", f"<!-- end {interface} -->"
    text = DOCUMENT.read_text(encoding="utf-8")
    new, count = re.subn(f"(?s){re.escape(begin)}.*?{re.escape(end)}", lambda _: begin + table + end, text)
    assert count == 1, f"docs/interfaces.md has no place for the table of {interface}"
    if os.environ.get(WRITE):
        DOCUMENT.write_text(new, encoding="utf-8")
    else:
        assert new == text, f"the table of {interface} in docs/interfaces.md is out of date; run: make docs"


def _is_same(ours: Any, theirs: Any, name: str) -> bool:
    if not hasattr(ours, name):
        return False
    own, original = getattr(ours, name), getattr(theirs, name)
    return accepts(own, original) if callable(original) and callable(own) else callable(own) == callable(original)
