"""Trees on the wire: what fits is read back as it was, what doesn't is refused with the reason."""

from typing import Any

import pytest
from pluriverse_protocol.kinds import read
from pluriverse_protocol.limits import (
    MAX_LABEL_CHARS,
    MAX_REPORT_BYTES,
    MAX_ROLE_CHARS,
    MAX_TREE_CHARS,
    MAX_TREE_NODES,
)
from pluriverse_protocol.messages import TreeReply
from pluriverse_protocol.reports import TreeRead, decode_report, encode_line
from pluriverse_protocol.tree import Node

BOX = [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([{"role": "a"}], "'box' is missing"),
        ([{"role": "a", "box": [0, 0, 0, 1]}], "'box' is"),
        (["a"], "expected an object"),
        ([{"role": "a", "box": BOX, "parent": 0}], "doesn't come before it"),
        ([{"role": "a" * (MAX_ROLE_CHARS + 1), "box": BOX}], "'role' is 'aa.*expected string of at most"),
        ([{"role": "a", "box": BOX, "name": "a" * (MAX_LABEL_CHARS + 1)}], "'name' is 'aa.*expected string of at most"),
        (
            [{"role": "a", "box": BOX, "value": "a" * (MAX_LABEL_CHARS + 1)}],
            "'value' is 'aa.*expected string of at most",
        ),
        ([{"role": "a", "box": BOX}] * (MAX_TREE_NODES + 1), f"Expected `array` of length <= {MAX_TREE_NODES}"),
        ([{"role": "a", "box": BOX, "name": "a" * 1000}] * (MAX_TREE_CHARS // 1000 + 1), "characters, over"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(nodes: list[Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read(TreeReply, {"nodes": nodes})


def test_the_largest_tree_fits_a_report() -> None:
    box, widest = (65535, 65535, 65535, 65535), "\U0001f600"
    role, name = widest * 2, widest * (MAX_TREE_CHARS // MAX_TREE_NODES - 2)
    nodes = tuple(Node(role, box, name, "", max(0, index - 1) or None) for index in range(MAX_TREE_NODES))
    line = encode_line(TreeRead(1, 2, nodes))
    assert len(line) < MAX_REPORT_BYTES
    assert decode_report(line) == TreeRead(1, 2, nodes)
