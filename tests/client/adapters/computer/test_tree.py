"""What is on the screen in words, and what of it gets a mark."""

from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.computer.tree import MARKED, MAX_MARKS, Tree
from pluriverse.adapters.computer.view import View
from pluriverse_protocol.tree import Node
from support.wire import trees

VIEW = View((100, 50, 400, 200), 200, 100)

NODES = (
    Node("document", (100, 50, 400, 200), "Shop"),
    Node("cell", (110, 60, 40, 20), "Kite", None, 0),
    Node("link", (110, 60, 40, 20), "Kite", None, 1),
    Node("textbox", (200, 61, 101, 20), "", 'a "b"', 0),
    Node("text", (320, 61, 9, 9), "once", None, 0),
)


def test_text_has_a_line_for_each_with_its_mark_role_name_value_and_box_in_the_picture() -> None:
    assert Tree.seen(NODES, VIEW, 3).text().splitlines() == [
        'document "Shop" (0,0,200,100)',
        '  cell "Kite" (5,5,20,10)',
        '    [1] link "Kite" (5,5,20,10)',
        '  [2] textbox = "a \\"b\\"" (50,5,51,11)',
        '  text "once" (110,5,5,5)',
        "… and 3 more",
    ]


def test_marks_are_of_what_is_acted_on_once_where_it_is_on_the_screen() -> None:
    tree = Tree.seen(NODES, VIEW)
    assert tree.marks == {1: (110, 60, 40, 20), 2: (200, 61, 101, 20)}
    assert tree.numbers == {2: 1, 3: 2}


def test_there_are_no_more_marks_than_have_two_digits() -> None:
    tree = Tree.seen([Node("button", (100 + index, 50, 5, 5)) for index in range(MAX_MARKS + 9)], VIEW)
    assert list(tree.marks) == list(range(1, MAX_MARKS + 1))


@given(trees(), st.integers(1, 500), st.integers(1, 500))
def test_any_tree_has_a_text_and_boxes_that_are_not_empty(nodes: tuple[Node, ...], width: int, height: int) -> None:
    tree = Tree.seen(nodes, View((0, 0, 65535, 65535), width, height))
    assert all(node.box[2] > 0 and node.box[3] > 0 for node in tree.nodes)
    assert sum(line.lstrip().startswith(("[", *MARKED)) for line in tree.text().splitlines()) >= len(tree.marks)
