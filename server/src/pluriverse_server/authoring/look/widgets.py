"""The widgets of the program that is looked at, each with its path and the source that reads it. Blocking."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.sources.program.accessibility import (
    RENAMED,
    all_widgets,
    has_text,
    name_of,
    newer_role,
    open_bus,
    text_of,
)
from pluriverse_server.sources.program.bus import Bus, BusLost, BusObject
from pluriverse_server.sources.program.patterns import Matcher
from pluriverse_server.sources.reading import SourceError

from .found import Found, number_pattern

# A person waits this long for the list.
MAX_LOOK_S: Final = 5.0

# The bus itself, and those on it that nobody looks for.
_DAEMON: Final = BusObject("org.freedesktop.DBus", "/org/freedesktop/DBus")

# What a person fills in is listed while it is empty, too.
_FIELDS: Final = frozenset(("text", "password text", "entry", "spin button", "combo box"))

_OLDER: Final = {newer: older for older, newer in RENAMED.items()}


@dataclass(frozen=True, slots=True)
class Widget:
    """A widget: its ``path`` of roles, its name, and its text, which is the name where it has no other."""

    path: str
    role: str
    name: str
    text: str


def list_widgets(environment: Mapping[str, str]) -> list[Widget]:
    """Return the widgets of the program with this environment.

    Raises:
        AuthoringError: it shows none, or its bus has ended.
    """
    try:
        with contextlib.closing(open_bus(environment)) as bus:
            return _list(bus)
    except (SourceError, BusLost, TimeoutError) as error:
        raise AuthoringError(f"no widgets: {error or 'the program did not answer'}") from error


def names_on(environment: Mapping[str, str]) -> list[str]:
    """Return the names that programs have on the bus of the program with this environment; none if it has no bus."""
    try:
        with contextlib.closing(open_bus(environment)) as bus:
            names: list[str] = bus.ask(_DAEMON, "org.freedesktop.DBus.ListNames", "as") or []
    except (SourceError, BusLost, TimeoutError):
        return []
    return sorted(name for name in names if not name.startswith(":"))


def sources_of_widgets(widgets: list[Widget]) -> list[Found]:
    """Return the sources that read these widgets, each found by its name, or by its place among those of its role."""
    found: list[Found] = []
    roles: Counter[str] = Counter()
    named: Counter[tuple[str, str]] = Counter()
    for widget in widgets:
        role = newer_role(widget.role)
        by_name = bool(widget.name) and widget.name != widget.text
        table: dict[str, Any] = {"from": "accessibility", "role": widget.role}
        if by_name:
            table["name"] = f"^{re.escape(widget.name)}$"
            if index := named[role, widget.name]:
                table["index"] = index
        elif index := roles[role]:
            table["index"] = index
        roles[role] += 1
        named[role, widget.name] += 1
        for pattern in (number_pattern(widget.text), None):
            written = {**table, "pattern": pattern} if pattern is not None else table
            value = Matcher(pattern or "(?P<value>.*)").value(widget.text)
            if value is not None and (value != "" or role in _FIELDS):
                found.append(Found(f"widget {widget.path}", value, written))
                break
    return found


def also_called(role: str) -> str | None:
    """Return the other name of a role, in older or newer toolkits."""
    return RENAMED.get(role) or _OLDER.get(role)


def _list(bus: Bus) -> list[Widget]:
    found: list[Widget] = []
    paths: dict[BusObject | None, str] = {}
    for widget, role, parent in all_widgets(bus, time.monotonic() + MAX_LOOK_S):
        name = name_of(bus, widget)
        above = f"{paths[parent]} / " if parent in paths else ""
        paths[widget] = f"{above}{role} “{name}”" if name else f"{above}{role}"
        text = text_of(bus, widget) if has_text(bus, widget) else None
        found.append(Widget(paths[widget], role, name, name if text is None else text))
    return found
