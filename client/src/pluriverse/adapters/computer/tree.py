"""What is on the screen in words, and the numbers by which a model may name what it acts on. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from msgspec.structs import replace
from pluriverse_protocol.rfb.geometry import Box
from pluriverse_protocol.tree import Node

from .view import Point, View

# More numbers than this hide the picture, and have more digits than fit a button.
MAX_MARKS: Final = 99

# What is clicked, dragged or written in.
MARKED: Final = frozenset(
    (
        *("button", "link", "checkbox", "radio", "switch", "textbox", "searchbox", "combobox", "spinbutton", "slider"),
        *("tab", "option", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem", "gridcell", "cell", "canvas"),
        *("listitem", "scrollbar", "toggle button"),
    )
)


@dataclass(frozen=True, slots=True)
class Tree:
    """What is on the screen, parents before what is in them; boxes are in pixels of the picture.

    ``numbers`` has the marks of nodes by their index, ``marks`` the boxes that they name, in pixels of the screen.
    ``left_out``: how many nodes more there are than a tree may have.
    """

    nodes: tuple[Node, ...]
    numbers: Mapping[int, int]
    marks: Mapping[int, Box]
    left_out: int = 0

    @classmethod
    def seen(cls, on_screen: Sequence[Node], view: View, left_out: int = 0) -> Self:
        """Return the tree as it is in a picture, of nodes with boxes in pixels of the screen."""
        nodes = tuple(replace(node, box=view.to_picture_box(node.box)) for node in on_screen)
        numbers = {index: number for number, index in enumerate(_marked(on_screen)[:MAX_MARKS], 1)}
        marks = {number: on_screen[index].box for index, number in numbers.items()}
        return cls(nodes, numbers, marks, left_out)

    def text(self) -> str:
        """Return a line for each node, with its mark, role, name, value, and its box: x, y, width and height."""
        depths: list[int] = []
        lines: list[str] = []
        for index, node in enumerate(self.nodes):
            depths.append(0 if node.parent is None else depths[node.parent] + 1)
            mark = f"[{self.numbers[index]}] " if index in self.numbers else ""
            name = f" {_quoted(node.name)}" if node.name else ""
            value = f" = {_quoted(node.value)}" if node.value is not None else ""
            box = ",".join(map(str, node.box))
            lines.append(f"{'  ' * depths[-1]}{mark}{node.role}{name}{value} ({box})")
        if self.left_out:
            lines.append(f"… and {self.left_out} more")
        return "\n".join(lines)


def middle(box: Box) -> Point:
    x, y, width, height = box
    return x + width // 2, y + height // 2


def _marked(nodes: Sequence[Node]) -> list[int]:
    """Return which nodes get a mark: what is acted on, but not twice where one fills another, such as a cell's link."""
    filled = {(node.parent, node.box) for node in nodes if node.role in MARKED}
    return [index for index, node in enumerate(nodes) if node.role in MARKED and (index, node.box) not in filled]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
