"""What is on the screen, as a page's or a desktop's accessibility tree has it: roles, names, values and boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast

from .kinds import Box, Count, Kind, String, expect, from_json, items, to_json
from .limits import MAX_LABEL_CHARS, MAX_ROLE_CHARS, MAX_TREE_CHARS, MAX_TREE_NODES


@dataclass(frozen=True)
class Node:
    """One thing that is to be seen.

    ``role`` is a role of WAI-ARIA where there is one for it, such as ``button``; ``text`` is what is only read. ``box``
    is the part of it within the environment's picture, in pixels of the screen. ``value`` is what a field holds; of
    boxes to be checked ``true``, ``false`` or ``mixed``. ``parent`` is the index of the node that it is in; None: none.
    """

    role: String
    box: Box
    name: String = ""
    value: String | None = None
    parent: Count | None = None

    def __post_init__(self) -> None:
        expect(len(self.role) <= MAX_ROLE_CHARS, f"'role' is over {MAX_ROLE_CHARS} characters long")
        for text in (self.name, self.value or ""):
            expect(len(text) <= MAX_LABEL_CHARS, f"a text is over {MAX_LABEL_CHARS} characters long")


def _read_node(value: Any) -> Node:
    if isinstance(value, Node):
        return value
    expect(isinstance(value, dict), "expected an object")
    return from_json(Node, cast("dict[str, Any]", value))


def _read(value: Any) -> tuple[Node, ...]:
    nodes = items(value, _read_node, limit=MAX_TREE_NODES, what="nodes")
    for index, node in enumerate(nodes):
        expect(node.parent is None or node.parent < index, f"[{index}] has a parent that doesn't come before it")
    characters = sum(len(node.role) + len(node.name) + len(node.value or "") for node in nodes)
    expect(characters <= MAX_TREE_CHARS, f"{characters} characters, over {MAX_TREE_CHARS}")
    return nodes


Nodes = Annotated[
    tuple[Node, ...],
    Kind(
        f"list of at most {MAX_TREE_NODES} nodes, parents before what is in them",
        _read,
        lambda nodes: [to_json(node) for node in nodes],
    ),
]
