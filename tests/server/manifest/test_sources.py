import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.manifest import sources
from pluriverse_server.manifest.sources import MAX_COORDINATE, AnySource
from pydantic import TypeAdapter, ValidationError

SCREEN = {"from": "screen", "region": [1, 2, 30, 40]}
NUMBER = {**SCREEN, "read": "number"}
FILE = {"from": "file", "file": "scores", "format": "json", "key": "a"}
TEXT_FILE = {"from": "file", "file": "letter", "format": "text"}
MEMORY = {"from": "memory", "type": "i32"}
PATTERN = "0a 0B ?? ff"

BAR = {**SCREEN, "read": "bar", "colour": "#ff0000"}

any_source: TypeAdapter[AnySource] = TypeAdapter(AnySource)


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (NUMBER, sources.NumberSource),
        ({**SCREEN, "read": "text"}, sources.TextSource),
        ({**SCREEN, "read": "template", "image": "over.png"}, sources.TemplateSource),
        (BAR, sources.BarSource),
        (BAR | {"empty": ["#000000"]}, sources.BarSource),
        ({**SCREEN, "read": "colour", "colour": "#FF00aa"}, sources.ColourSource),
        ({"from": "python", "file": "read.py", "region": [1, 2, 3, 4]}, sources.PythonSource),
        ({"from": "log", "pattern": r"score (?P<value>\d+)"}, sources.LogSource),
        (FILE, sources.FileSource),
        ({**FILE, "format": "csv", "key": "-1.score"}, sources.FileSource),
        (TEXT_FILE, sources.FileSource),
        ({**TEXT_FILE, "pattern": r"total: (?P<value>\d+)"}, sources.FileSource),
        ({**MEMORY, "module": "game", "offset": -8, "pointers": [16, -8]}, sources.MemorySource),
        ({**MEMORY, "pattern": PATTERN}, sources.MemorySource),
        ({**MEMORY, "module": "game", "pattern": PATTERN, "process": "engine"}, sources.MemorySource),
        ({"from": "accessibility", "role": "label"}, sources.AccessibilitySource),
        ({"from": "process", "read": "exit"}, sources.ProcessSource),
    ],
)
def test_table_is_what_it_is_read_from_and_how(table: dict[str, Any], kind: type) -> None:
    source = any_source.validate_python(table)
    assert type(source) is kind
    assert any_source.validate_python(source) == source
    assert any_source.validate_python(source.model_dump(by_alias=True)) == source


def test_reading_needs_two_agreeing_frames_where_it_could_be_torn() -> None:
    agree = {kind: any_source.validate_python(table).agree for kind, table in {"number": NUMBER, "file": FILE}.items()}
    assert agree == {"number": 2, "file": 1}
    halves = [any_source.validate_python({**FILE, "format": form, "key": "0.a"}).agree for form in ("ini", "csv")]
    assert halves == [2, 2]
    assert any_source.validate_python(TEXT_FILE).agree == 2
    assert any_source.validate_python({**FILE, "format": "ini", "agree": 1}).agree == 1


def refusal(table: Any) -> str:
    with pytest.raises(ValidationError) as refused:
        any_source.validate_python(table)
    (problem,) = refused.value.errors()
    return f"{problem['loc'][-1] if problem['loc'] else ''}: {problem['msg'].removeprefix('Value error, ')}"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({}, ': expected from = "screen" with read = "number"'),
        ({"from": "screen", "read": "title"}, ": expected from"),
        (3, ": expected from"),
        ({**NUMBER, "region": [1, 2, 3]}, "region: expected [x, y, width, height] in pixels"),
        ({**NUMBER, "region": [1, MAX_COORDINATE + 1, 3, 4]}, "region: expected [x, y, width, height] in pixels"),
        ({**NUMBER, "min": 5, "max": 4}, "number: expected min to be at most max"),
        ({**SCREEN, "read": "text", "max": 3}, "text: expected no min, max, max_jump or monotonic with a text"),
        ({**SCREEN, "read": "bar", "colour": "red"}, "colour: expected a colour as #d02010"),
        ({"from": "log", "pattern": "("}, "pattern: expected a regular expression: missing )"),
        ({**FILE, "format": "csv", "key": "score"}, "file: expected key as row.column with CSV"),
        ({**FILE, "format": "text"}, 'file: expected key, or with format = "text" a pattern or nothing'),
        ({**FILE, "pattern": "a"}, 'file: expected key, or with format = "text" a pattern or nothing'),
        ({**TEXT_FILE, "format": "json"}, 'file: expected key, or with format = "text" a pattern or nothing'),
        (MEMORY, "memory: expected address, or module or pattern"),
        ({**MEMORY, "pattern": "0a 0b 0c"}, "pattern: expected 4 to 256 bytes as 8b 05"),
        ({"from": "accessibility", "role": "label", "name": "["}, "name: expected a regular expression"),
        (BAR | {"colour": 3}, "colour: expected a colour as #d02010 in quotes, or a list of some"),
        (BAR | {"empty": ["#ff0000"] * 33}, "empty: expected at most 32 colours"),
        ({**SCREEN, "read": "colour", "colour": []}, "colour: expected a colour as #d02010, or a list of some"),
        ({**NUMBER, "settles": 0.3}, "settles: expected a number and its unit in quotes"),
        ({**NUMBER, "settles": "1 min"}, 'settles: expected a number and its unit, such as "0.3 s" or "300 ms"'),
    ],
)
def test_mistake_is_told_with_its_key_and_what_is_expected(table: Any, complaint: str) -> None:
    assert refusal(table).startswith(complaint)


@given(st.decimals(0, 10, places=3), st.sampled_from(["s", "ms"]), st.sampled_from(["", " "]))
def test_what_settles_does_so_within_five_seconds(amount: Decimal, unit: str, space: str) -> None:
    table = {**NUMBER, "settles": f"{amount}{space}{unit}"}
    settles_s = float(amount) / (1000 if unit == "ms" else 1)
    if 0 < settles_s <= 5:
        assert any_source.validate_python(table).settles_s == settles_s
    else:
        assert refusal(table) == "settles: expected more than 0 s and at most 5 s"


# What a TOML file can say, though nobody means it.
toml: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        (BAR, ["colour", "empty", "tolerance"]),
        ({**SCREEN, "read": "template", "image": "life.png"}, ["image", "threshold", "shift"]),
        ({"from": "python", "file": "read.py", "region": [1, 2, 3, 4]}, ["file", "region"]),
        (NUMBER, ["settles"]),
    ],
)
@given(data=st.data())
def test_whatever_is_written_is_taken_or_told_in_words(
    table: dict[str, Any], keys: list[str], data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(keys))
    try:
        any_source.validate_python(table | {key: data.draw(toml)})
    except ValidationError as error:
        for problem in error.errors():
            assert key in problem["loc"] or "value_error" in problem["type"]
            # A person is told what to write, not what it was compared with.
            assert not re.search(r"pattern|\\d|\^|\$", problem["msg"])
