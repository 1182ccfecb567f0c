import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.strict_json import MAX_DEPTH, MAX_DIGITS, dump, parse_object
from support.wire import json_objects


def nested(depth: int) -> str:
    """A JSON object of ``depth`` levels, itself counted."""
    return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


@given(json_objects)
def test_what_is_dumped_parses_back_to_itself_on_one_line(document: dict[str, Any]) -> None:
    text = dump(document)
    assert "\n" not in text
    assert parse_object(text) == document
    assert parse_object(text.encode()) == document


@given(st.binary() | st.text())
def test_anything_parses_or_is_a_value_error(data: str | bytes) -> None:
    try:
        document = parse_object(data)
    except ValueError:
        return
    assert isinstance(document, dict)


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "[1e400]", '{"b": [-1E+310]}'])
def test_numbers_that_json_does_not_have_are_refused_wherever_they_stand(literal: str) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        parse_object(f'{{"a": {literal}}}')


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_no_encoding_but_utf_8_is_taken(encoding: str) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        parse_object('{"a": "\u00e9"}'.encode(encoding))


def test_depth_is_limited_at_exactly_the_limit() -> None:
    assert parse_object(nested(MAX_DEPTH))
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_object(nested(MAX_DEPTH + 1))


@pytest.mark.parametrize("depth", [500, 990, 1_000, 5_000, 30_000])
def test_deep_nesting_is_a_value_error_and_no_recursion_error(depth: int) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_object(nested(depth))


@pytest.mark.parametrize("digits", [MAX_DIGITS + 1, 5000])
def test_integers_that_fit_no_double_are_refused(digits: int) -> None:
    assert float(parse_object('{"a": ' + "9" * MAX_DIGITS + "}")["a"]) == 1e308
    with pytest.raises(ValueError, match="not JSON"):
        parse_object('{"a": ' + "9" * digits + "}")


def test_lone_surrogates_survive_as_escapes() -> None:
    document = parse_object(r'{"a": "\ud800"}')
    assert document == {"a": "\ud800"}
    assert dump(document).isascii()
    assert json.loads(dump(document)) == document


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b"bytes", {1, 2}, {("a",): 1}])
def test_what_json_cannot_carry_is_not_dumped(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        dump({"a": value})
