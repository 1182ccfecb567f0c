"""What is behind what: the same as one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.sources.page.covered import Drawn, covered

corners = st.integers(0, 4)


@st.composite
def all_drawn(draw: st.DrawFn) -> list[Drawn]:
    drawn: list[Drawn] = []
    for node in range(draw(st.integers(0, 8))):
        x, y, width, height = (draw(corners) for _ in range(4))
        nodes = range(node, draw(st.integers(node + 1, 10)))
        drawn.append(Drawn((x, y, x + width, y + height), draw(corners), nodes, draw(st.booleans())))
    return drawn


def is_behind(each: Drawn, other: Drawn) -> bool:
    inside = other.box[0] <= each.box[0] and other.box[1] <= each.box[1]
    inside = inside and each.box[2] <= other.box[2] and each.box[3] <= other.box[3]
    return other.opaque and inside and each.order < other.order and other.nodes.start not in each.nodes


@given(all_drawn())
def test_a_box_is_covered_by_one_that_is_opaque_later_larger_and_not_in_it(drawn: list[Drawn]) -> None:
    assert covered(drawn) == [any(is_behind(each, other) for other in drawn) for each in drawn]
