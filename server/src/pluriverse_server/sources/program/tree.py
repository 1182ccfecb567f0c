"""The tree of a desktop, from AT-SPI."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping
from typing import Final

from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.trees import TEXT, TREE_S, Found, NoTree, Rectangle, intersection

from .accessibility import DESKTOP, MAX_WIDGETS, name_of, newer_role, open_bus, text_of
from .bus import Bus, BusLost, BusObject

# The names that WAI-ARIA has for them.
ROLES: Final = {
    "check box": "checkbox",
    "check menu item": "menuitemcheckbox",
    "column header": "columnheader",
    "combo box": "combobox",
    "entry": "textbox",
    "frame": "window",
    "image": "img",
    "icon": "img",
    "label": TEXT,
    "list box": "listbox",
    "list item": "listitem",
    "menu bar": "menubar",
    "menu item": "menuitem",
    "page tab": "tab",
    "page tab list": "tablist",
    "password text": "textbox",
    "progress bar": "progressbar",
    "push button menu": "button",
    "button menu": "button",
    "radio button": "radio",
    "radio menu item": "menuitemradio",
    "row header": "rowheader",
    "scroll bar": "scrollbar",
    "spin button": "spinbutton",
    "static": TEXT,
    "table cell": "cell",
    "table row": "row",
    "text": "textbox",
    "toggle button": "button",
    "tool bar": "toolbar",
    "tree item": "treeitem",
    "tree table": "treegrid",
}

_WRITTEN: Final = frozenset(("textbox", "spinbutton"))
_MEASURED: Final = frozenset(("slider", "progressbar", "spinbutton", "scrollbar", "level bar"))
_CHECKED: Final = frozenset(("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "toggle button"))

# What lies outside of them isn't seen.
_CLIPPING: Final = frozenset(("scroll pane", "viewport", "window", "dialog"))

# Of the states in two words of 32 bits: atspi-constants.h.
_CHECKED_STATE: Final = 1 << 4
_SHOWING: Final = 1 << 25
_MIXED: Final = 1 << 32

_ON_SCREEN: Final = 0

_GET_ROLE: Final = "org.a11y.atspi.Accessible.GetRoleName"
_GET_STATE: Final = "org.a11y.atspi.Accessible.GetState"
_GET_CHILDREN: Final = "org.a11y.atspi.Accessible.GetChildren"
_GET_EXTENTS: Final = "org.a11y.atspi.Component.GetExtents"
_VALUE: Final = "org.a11y.atspi.Value.CurrentValue"

# A menu that was opened is no part of what opened it.
_EVERYWHERE: Final[Rectangle] = (-math.inf, -math.inf, math.inf, math.inf)


def read_tree(environment: Mapping[str, str]) -> list[Found]:
    """Return what is shown by all programs on the bus that ``environment`` names, depth first. Blocking."""
    try:
        with contextlib.closing(open_bus(environment)) as bus:
            return _read(bus, time.monotonic() + TREE_S / 2)
    except TimeoutError:
        raise NoTree("the program doesn't answer requests for its widgets") from None
    except (SourceError, BusLost) as error:
        raise NoTree(f"the program's widgets can't be read: {error}") from error


def _read(bus: Bus, deadline: float) -> list[Found]:
    found: list[Found] = []
    # Each with its parent in what was found, and where it may be seen; a stack, so that what comes first is on top.
    waiting: list[tuple[BusObject, int | None, Rectangle]] = [
        (window, None, _EVERYWHERE) for program in _children(bus, DESKTOP) for window in _children(bus, program)
    ]
    waiting.reverse()
    seen = 0
    while waiting and seen < MAX_WIDGETS:
        if time.monotonic() > deadline:
            raise TimeoutError
        widget, parent, room = waiting.pop()
        seen += 1
        states = _states(bus, widget)
        if not states & _SHOWING:
            continue
        role = newer_role(bus.ask(widget, _GET_ROLE, "s") or "")
        box = _box(bus, widget)
        visible = box and intersection(box, room)
        found.append(_found(bus, widget, role, states, parent, visible))
        if role in _CLIPPING and visible is not None:
            room = visible
        index = len(found) - 1
        waiting += reversed([(child, index, room) for child in _children(bus, widget)])
    return found


def _found(bus: Bus, widget: BusObject, role: str, states: int, parent: int | None, box: Rectangle | None) -> Found:
    named = ROLES.get(role, role)
    value = None
    if role != "password text":
        if named in _CHECKED or role in _CHECKED:
            value = "mixed" if states & _MIXED else "true" if states & _CHECKED_STATE else "false"
        elif named in _WRITTEN:
            value = text_of(bus, widget)
        elif named in _MEASURED:
            number = bus.number(widget, _VALUE)
            value = None if number is None else f"{number:g}"
    return Found(parent, named, name_of(bus, widget), value, box)


def _states(bus: Bus, widget: BusObject) -> int:
    words: list[int] = bus.ask(widget, _GET_STATE, "au") or []
    return sum(word << (32 * index) for index, word in enumerate(words[:2]))


def _box(bus: Bus, widget: BusObject) -> Rectangle | None:
    box = bus.ask(widget, _GET_EXTENTS, "(iiii)", _ON_SCREEN, signature="u")
    if box is None or box[2] <= 0 or box[3] <= 0:
        return None
    x, y, width, height = box
    return x, y, x + width, y + height


def _children(bus: Bus, widget: BusObject) -> list[BusObject]:
    listed: list[tuple[str, str]] = bus.ask(widget, _GET_CHILDREN, "a(so)") or []
    return [BusObject(owner, path) for owner, path in listed[:MAX_WIDGETS]]
