from __future__ import annotations

from typing import Any

import pytest
from pluriverse_server.manifest.sources import (
    MAX_COORDINATE,
    AccessibilitySource,
    AnySource,
    BarSource,
    ChangeSource,
    ColourSource,
    FileSource,
    LogSource,
    MemorySource,
    NumberSource,
    ProcessSource,
    TemplateSource,
    TextSource,
)
from pydantic import TypeAdapter, ValidationError

SCREEN = {"from": "screen", "region": [1, 2, 30, 40]}
NUMBER = {**SCREEN, "read": "number"}
FILE = {"from": "file", "file": "scores", "format": "json", "key": "a"}
MEMORY = {"from": "memory", "type": "i32"}
PATTERN = "0a 0B ?? ff"

any_source: TypeAdapter[AnySource] = TypeAdapter(AnySource)


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (NUMBER, NumberSource),
        ({**NUMBER, "glyphs": "glyphs/score.png"}, NumberSource),
        ({**SCREEN, "read": "text"}, TextSource),
        ({**SCREEN, "read": "template", "image": "over.png"}, TemplateSource),
        ({**SCREEN, "read": "bar", "colour": "#ff0000"}, BarSource),
        ({**SCREEN, "read": "colour", "colour": "#FF00aa"}, ColourSource),
        ({**SCREEN, "read": "change"}, ChangeSource),
        ({"from": "log", "pattern": r"score (?P<value>\d+)"}, LogSource),
        (FILE, FileSource),
        ({**FILE, "format": "csv", "key": "-1.score"}, FileSource),
        ({**FILE, "format": "ini", "key": "score"}, FileSource),
        ({**MEMORY, "address": 4096}, MemorySource),
        ({**MEMORY, "module": "game", "offset": -8, "pointers": [16, -8]}, MemorySource),
        ({**MEMORY, "pattern": PATTERN}, MemorySource),
        ({**MEMORY, "module": "game", "pattern": PATTERN, "process": "engine"}, MemorySource),
        ({"from": "accessibility", "role": "label"}, AccessibilitySource),
        ({"from": "process", "read": "exit"}, ProcessSource),
        ({"from": "process", "read": "title", "pattern": "Score"}, ProcessSource),
    ],
)
def test_table_is_what_it_is_read_from_and_how(table: dict[str, Any], kind: type) -> None:
    source = any_source.validate_python(table)
    assert type(source) is kind
    assert any_source.validate_python(source) == source
    assert any_source.validate_python(source.model_dump(by_alias=True)) == source


def test_reading_needs_two_agreeing_frames_where_it_could_be_torn() -> None:
    agree = {
        kind: any_source.validate_python(table).agree
        for kind, table in {"number": NUMBER, "change": {**SCREEN, "read": "change"}, "file": FILE}.items()
    }
    assert agree == {"number": 2, "change": 1, "file": 1}
    halves = [any_source.validate_python({**FILE, "format": form, "key": "0.a"}).agree for form in ("ini", "csv")]
    assert halves == [2, 2]
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
        ({"from": "number"}, ": expected from"),
        ({"from": "screen", "read": "log", "pattern": "x"}, ": expected from"),
        ({"from": "page"}, ": expected from"),
        (3, ": expected from"),
        ({**NUMBER, "regoin": 1}, "regoin: Extra inputs"),
        ({**NUMBER, "region": [1, 2, 3]}, "region: expected [x, y, width, height] in pixels"),
        ({**NUMBER, "region": [1, 2, 0, 4]}, "region: expected [x, y, width, height] in pixels"),
        ({**NUMBER, "region": [-1, 2, 3, 4]}, "region: expected [x, y, width, height] in pixels"),
        ({**NUMBER, "region": [1, MAX_COORDINATE + 1, 3, 4]}, "region: expected [x, y, width, height] in pixels"),
        ({**NUMBER, "min": 5, "max": 4}, "number: expected min to be at most max"),
        ({**NUMBER, "max_jump": 0}, "max_jump: Input should be greater than 0"),
        ({**NUMBER, "monotonic": "yes"}, "monotonic: Input should be 'up' or 'down'"),
        ({**NUMBER, "agree": 0}, "agree: Input should be greater than or equal to 1"),
        ({**NUMBER, "confidence": 1.5}, "confidence: Input should be less than or equal to 1"),
        ({**NUMBER, "max": float("nan")}, "max: Input should be a finite number"),
        ({**SCREEN, "read": "text", "max": 3}, "text: expected no min, max, max_jump or monotonic with a text"),
        ({**SCREEN, "read": "template"}, "image: Field required"),
        ({**SCREEN, "read": "bar", "colour": "red"}, "colour: expected a colour as #d02010"),
        ({"from": "log", "pattern": "("}, "pattern: expected a regular expression: missing )"),
        ({**FILE, "format": "xml"}, "format: Input should be 'json', 'ini' or 'csv'"),
        ({**FILE, "format": "csv", "key": "score"}, "file: expected key as row.column with CSV"),
        (MEMORY, "memory: expected address, or module or pattern"),
        ({**MEMORY, "address": 1, "module": "game"}, "memory: expected address, or module or pattern"),
        ({**MEMORY, "address": 2**64}, "address: Input should be less than"),
        ({**MEMORY, "pattern": "0a 0b 0c"}, "pattern: expected 4 to 256 bytes as 8b 05"),
        ({**MEMORY, "pattern": "0a0b0c0d"}, "pattern: expected 4 to 256 bytes as 8b 05"),
        ({**MEMORY, "type": "int", "address": 1}, "type: Input should be 'i8'"),
        ({"from": "accessibility", "role": "label", "name": "["}, "name: expected a regular expression"),
        ({"from": "process", "read": "code"}, "read: Input should be 'exit' or 'title'"),
    ],
)
def test_mistake_is_told_with_its_key_and_what_is_expected(table: Any, complaint: str) -> None:
    assert refusal(table).startswith(complaint)
