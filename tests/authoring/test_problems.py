import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_authoring.problems import lines_of
from pluriverse_server.manifest.runtime import KeyPath

DOCUMENT = '''\
# a comment with [brackets] and key = value
title = "a # that is none"

[program]
command = [
  "python",  # the daemon's
  "game.py", """
of two lines""",
]
env.LANG = "C"
[reset]
by = "keys"
steps = [
  { keys = ["Escape"], until = "menu" },
  { keys = [
    "space" ], until = "not menu" },
]
[sources."score"]
from = 'screen'
[[rewards]]
source = "score"
[[rewards]]
source = "lives"
[rewards.more]
when = "x[0]"
[[envs]]
id = "a"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("program", "command"), 5),
        (("program", "command", 0), 6),
        (("program", "command", 2), 7),
        (("program", "env", "LANG"), 10),
        (("reset", "steps", 0, "until"), 14),
        (("reset", "steps", 1, "keys", 0), 16),
        (("sources", "score"), 18),
        (("sources", "score", "from"), 19),
        (("rewards", 1, "source"), 23),
        (("rewards", 1, "more", "when"), 25),
        (("envs", 0, "id"), 27),
    ],
)
def test_each_key_has_its_line(path: KeyPath, line: int) -> None:
    tomllib.loads(DOCUMENT)
    assert lines_of(DOCUMENT)[path] == line


SCALARS = st.sampled_from(["1", "-2.5e3", "true", "1979-05-27T07:32:00Z", '"a]}#,"', "'=\"'", '"""x\n"y" \\" \n"""'])
KEYS = st.sampled_from(["a", "b-2", '"q.r"', "'s t'", "a.b", 'x . "y"'])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """TOML with comments, blank lines, tables, arrays of tables, and nested values over several lines."""
    values = st.recursive(
        SCALARS,
        lambda inner: (
            st.lists(inner, max_size=3).map(lambda items: "[\n" + " , # c]\n".join(items) + "\n]")
            | st.lists(inner, max_size=3).map(
                lambda items: "{ " + ", ".join(f"k{i} = {item}" for i, item in enumerate(items)) + " }"
            )
        ),
        max_leaves=6,
    )
    lines: list[str] = []
    for index, (header, key, value) in enumerate(
        draw(st.lists(st.tuples(st.sampled_from(["", "[t%d]", "[[many]]", "[many.of%d]"]), KEYS, values), max_size=6))
    ):
        if header:
            lines.append(header.replace("%d", str(index)) + "  # [no] header = 1")
        lines.append(f"{key} = {value}")
        lines.extend(draw(st.lists(st.sampled_from(["", "# x = 1"]), max_size=2)))
    return "\n".join(lines)


def paths_of(value: Any) -> set[KeyPath]:
    if isinstance(value, dict):
        items: list[tuple[Any, Any]] = list(value.items())  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        items = list(enumerate(value))  # pyright: ignore[reportUnknownArgumentType]
    else:
        return set()
    return {(key, *rest) for key, inner in items for rest in [(), *paths_of(inner)]}


@given(documents())
def test_all_paths_of_a_document_are_found_and_no_others(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        # Keys that are there twice, or tables after arrays of the same name.
        return
    lines = lines_of(text)
    assert set(lines) == paths_of(document)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())
