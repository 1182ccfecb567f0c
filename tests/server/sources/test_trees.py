"""What agents may have of what was found: within the picture, nothing twice, within limits."""

from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.kinds import read, write
from pluriverse_protocol.limits import MAX_LABEL_CHARS, MAX_TREE_CHARS, MAX_TREE_NODES
from pluriverse_protocol.messages import TreeReply
from pluriverse_server.sources.trees import HOLDERS, TEXT, Found, trim

PICTURE = (10, 20, 100, 50)
INSIDE = (20.0, 30.0, 40.0, 40.0)

edges = st.floats(-50, 200)
roles = st.sampled_from(["button", "link", TEXT, "generic", "document", "panel"])


@st.composite
def all_found(draw: st.DrawFn) -> list[Found]:
    return [
        Found(
            draw(st.none() | st.integers(0, index - 1)) if index else None,
            draw(roles),
            draw(st.text(max_size=4)),
            draw(st.none() | st.text(max_size=4)),
            draw(st.none() | st.tuples(edges, edges, edges, edges)),
        )
        for index in range(draw(st.integers(0, 12)))
    ]


@given(all_found())
def test_all_of_a_tree_is_within_the_picture_and_fits_the_protocol(found: list[Found]) -> None:
    marked = [
        Found(each.parent, each.role, each.name and f"<{index}>", each.value, each.box)
        for index, each in enumerate(found)
    ]
    tree = trim(marked, PICTURE)
    assert read(TreeReply, write(TreeReply(tree.nodes, tree.left_out))).nodes == tree.nodes
    for node in tree.nodes:
        x, y, width, height = node.box
        assert x >= 10
        assert y >= 20
        assert x + width <= 110
        assert y + height <= 70
        assert node.name or node.value is not None or node.role not in HOLDERS
    # What is outside or not drawn is told by nothing.
    told = {node.name for node in tree.nodes}
    for index, each in enumerate(found):
        if each.box is None or each.box[2] <= 10 or each.box[0] >= 110 or each.box[3] <= 20 or each.box[1] >= 70:
            assert f"<{index}>" not in told


def test_what_only_holds_others_is_left_out_and_what_is_in_it_is_in_the_next_above() -> None:
    found = [
        Found(None, "document", "", None, INSIDE),
        Found(0, "generic", "", None, INSIDE),
        Found(1, "button", "Go", None, None),
        Found(2, TEXT, "inside", None, INSIDE),
        Found(1, "generic", "named", None, INSIDE),
        Found(4, TEXT, "x", None, INSIDE),
    ]
    nodes = trim(found, PICTURE).nodes
    assert [(node.role, node.name, node.parent) for node in nodes] == [
        ("document", "", None),
        (TEXT, "inside", 0),
        ("generic", "named", 0),
        (TEXT, "x", 2),
    ]


def test_a_text_is_not_told_beside_what_it_names_or_fills() -> None:
    found = [
        Found(None, "document", "Go and see", None, INSIDE),
        Found(0, "button", "Go  now", None, INSIDE),
        Found(1, TEXT, "Go ", None, INSIDE),
        Found(1, TEXT, "3", None, INSIDE),
        Found(0, "textbox", "Name", "Ada", INSIDE),
        Found(4, "generic", "", None, INSIDE),
        Found(5, TEXT, "Ada", None, INSIDE),
        Found(0, TEXT, "Go", None, INSIDE),
    ]
    nodes = trim(found, PICTURE).nodes
    assert [node.name for node in nodes if node.role == TEXT] == ["3", "Go"]
    assert nodes[1].name == "Go now"


def test_what_is_beyond_the_limits_is_counted() -> None:
    many = [Found(None, "button", "a", None, INSIDE)] * (MAX_TREE_NODES + 5)
    assert (len(trim(many, PICTURE).nodes), trim(many, PICTURE).left_out) == (MAX_TREE_NODES, 5)
    long = [Found(None, "button", "a" * 2 * MAX_LABEL_CHARS, None, INSIDE)] * 100
    tree = trim(long, PICTURE)
    assert {len(node.name) for node in tree.nodes} == {MAX_LABEL_CHARS}
    assert len(tree.nodes) + tree.left_out == 100
    assert len(tree.nodes) * MAX_LABEL_CHARS <= MAX_TREE_CHARS
