from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pluriverse_server.authoring.look.toml_tables import (
    TableWrittenOtherwise,
    with_element,
    with_table,
    without_table,
    written_value,
)

DOCUMENT = """\
# What a person wrote.
[runtime]
id = "toy"   # with a comment of its own

# The score.
[sources.score]
from = "screen"
region = [
  1,
  2,
]
text = '''
[sources.lives]
'''
[sources.score.colours]
red = "#ff0000"

# The end.
[sources.over]
from = "log"

[[rewards]]
source = "score"
"""

scalars = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=5), scalars, max_size=3)
tables = st.dictionaries(st.sampled_from(["from", "region", "pattern"]), values)


@given(values)
@example({"\x7f": "\x7f"})
def test_any_value_is_read_as_it_was_written(value: Any) -> None:
    assert tomllib.loads(f"key = {written_value(value)}") == {"key": value}


@given(st.sampled_from(["score", "over", "new"]), tables, st.text(max_size=20))
def test_a_table_is_written_and_all_else_stays(name: str, table: dict[str, Any], comment: str) -> None:
    text = with_table(DOCUMENT, ("sources", name), table, comment)
    before, after = tomllib.loads(DOCUMENT), tomllib.loads(text)
    assert after["sources"].pop(name) == table
    before["sources"].pop(name, None)
    assert after == before
    assert '# What a person wrote.\n[runtime]\nid = "toy"   # with a comment of its own\n' in text
    assert with_table(text, ("sources", name), table, comment) == text


def test_a_table_takes_the_place_of_the_one_before_with_its_comment() -> None:
    text = with_table(DOCUMENT, ("sources", "score"), {"from": "file"}, "Anew.")
    assert '# Anew.\n[sources.score]\nfrom = "file"\n\n# The end.\n[sources.over]' in text
    assert "# The score." not in text
    assert (
        without_table(text, ("sources", "score"))
        == DOCUMENT[: DOCUMENT.index("# The score")] + DOCUMENT[DOCUMENT.index("# The end") :]
    )


def test_an_element_is_one_more_at_the_end() -> None:
    text = with_element(DOCUMENT, "rewards", {"source": "lives"}, "Two.")
    assert text == DOCUMENT + '\n# Two.\n[[rewards]]\nsource = "lives"\n'


@pytest.mark.parametrize("text", ['[sources]\nscore = { from = "log" }\n', 'sources.score.from = "log"\n'])
def test_a_table_that_is_written_in_another_way_is_left_to_a_person(text: str) -> None:
    with pytest.raises(TableWrittenOtherwise, match=r"\[sources\.score\] is written in another way"):
        with_table(text, ("sources", "score"), {"from": "file"})


def test_steps_are_written_one_to_a_line() -> None:
    text = with_table("", ("reset",), {"by": "keys", "steps": [{"keys": ["a"]}, {"click": [1, 2], "until": "x == 1"}]})
    assert text == '[reset]\nby = "keys"\nsteps = [\n  { keys = ["a"] },\n  { click = [1, 2], until = "x == 1" },\n]\n'
