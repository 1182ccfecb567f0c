"""What is on the screen, as a page's or a desktop's accessibility tree has it: roles, names, values and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from .kinds import Box, Count, JsonObject, always, expect
from .limits import MAX_LABEL_CHARS, MAX_ROLE_CHARS, MAX_TREE_CHARS, MAX_TREE_NODES

_Role = Annotated[str, Meta(max_length=MAX_ROLE_CHARS, description=f"string of at most {MAX_ROLE_CHARS} characters")]
_Label = Annotated[str, Meta(max_length=MAX_LABEL_CHARS, description=f"string of at most {MAX_LABEL_CHARS} characters")]


class Node(JsonObject, frozen=True):
    """One thing that is to be seen.

    ``role`` is a role of WAI-ARIA where there is one for it, such as ``button``; ``text`` is what is only read. ``box``
    is the part of it within the environment's picture, in pixels of the screen. ``value`` is what a field holds; of
    boxes to be checked ``true``, ``false`` or ``mixed``. ``parent`` is the index of the node that it is in; None: none.
    """

    role: _Role
    box: Box
    name: _Label = always("")
    value: _Label | None = None
    parent: Count | None = None


def expect_tree(nodes: Sequence[Node]) -> None:
    for index, node in enumerate(nodes):
        expect(node.parent is None or node.parent < index, f"[{index}] has a parent that doesn't come before it")
    characters = sum(len(node.role) + len(node.name) + len(node.value or "") for node in nodes)
    expect(characters <= MAX_TREE_CHARS, f"{characters} characters, over {MAX_TREE_CHARS}")


Nodes = Annotated[
    tuple[Node, ...],
    Meta(
        max_length=MAX_TREE_NODES,
        description=f"list of at most {MAX_TREE_NODES} nodes, parents before what is in them",
    ),
]
