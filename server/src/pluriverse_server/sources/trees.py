"""Trees of what is on the screen, as agents may have them: within the picture, nothing twice, within limits. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pluriverse_protocol.limits import MAX_LABEL_CHARS, MAX_ROLE_CHARS, MAX_TREE_CHARS, MAX_TREE_NODES
from pluriverse_protocol.tree import Node

Box = tuple[int, int, int, int]

# Left, top, right and bottom in pixels of the screen, right and bottom exclusive.
Rectangle = tuple[float, float, float, float]

# The longest wait for a program that hangs.
TREE_S: Final = 5.0

# What is for screen readers alone is a pixel large, so that it counts as visible.
LEAST_SIDE: Final = 2

TEXT: Final = "text"

# What has these roles, and no name and value, only holds others.
HOLDERS: Final = frozenset(
    (
        *("generic", "none", "presentation", "group", "section", "paragraph", "iframe", "labeltext"),
        *("filler", "panel", "scroll pane", "viewport", "split pane", "layered pane", "redundant object", "unknown"),
    )
)

# Nodes named by their text, or with it as their value: the text would be repeated.
NAMED_BY_TEXT: Final = frozenset(
    (
        *("button", "link", "heading", "checkbox", "radio", "switch", "textbox", "searchbox", "combobox", "spinbutton"),
        *("tab", "option", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem", "cell", "gridcell"),
        *("columnheader", "rowheader", "listitem", "tooltip"),
    )
)


class NoTree(Exception):
    """The screen has no tree; the message gives the reason, for agents."""


@dataclass(frozen=True, slots=True)
class Found:
    """One element as a browser or toolkit describes it. ``parent`` is the index of an earlier one, or None.

    ``box`` is None for what isn't drawn.
    """

    parent: int | None
    role: str
    name: str = ""
    value: str | None = None
    box: Rectangle | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """What an agent may have of it; ``left_out``: how many nodes are beyond the limits."""

    nodes: tuple[Node, ...]
    left_out: int = 0


def intersection(one: Rectangle, other: Rectangle) -> Rectangle:
    """Return what two rectangles share; right isn't above left, or bottom above top, where that is nothing."""
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def trim(found: Sequence[Found], picture: Box) -> Tree:
    x, y, width, height = picture
    nodes: list[Node] = []
    # For each that was found, the node that it became, or is in.
    places: list[int | None] = []
    left_out = characters = 0
    for each in found:
        within = None if each.parent is None else places[each.parent]
        place = within
        box = None if each.box is None else _clip(each.box, (x, y, x + width, y + height))
        if box is not None:
            role, name, value = each.role[:MAX_ROLE_CHARS], _label(each.name), _label(each.value or "") or None
            if not _is_idle(role, name, value, None if within is None else nodes[within]):
                characters += len(role) + len(name) + len(value or "")
                if len(nodes) < MAX_TREE_NODES and characters <= MAX_TREE_CHARS:
                    place = len(nodes)
                    nodes.append(Node(role, box, name, value, within))
                else:
                    left_out += 1
        places.append(place)
    return Tree(tuple(nodes), left_out)


def _is_idle(role: str, name: str, value: str | None, within: Node | None) -> bool:
    """Return whether a node is redundant."""
    if role == TEXT:
        said = (within.name, within.value or "") if within is not None and within.role in NAMED_BY_TEXT else ()
        return not name or any(name in text for text in said)
    return role in HOLDERS and not name and value is None


def _clip(box: Rectangle, picture: Rectangle) -> Box | None:
    left, top, right, bottom = intersection(box, picture)
    if not (right - left >= LEAST_SIDE and bottom - top >= LEAST_SIDE):
        return None
    left, top = math.floor(left), math.floor(top)
    return left, top, math.ceil(right) - left, math.ceil(bottom) - top


def _label(text: str) -> str:
    text = " ".join(text.split())[:MAX_LABEL_CHARS]
    return text if text.isascii() else text.encode(errors="replace").decode()
