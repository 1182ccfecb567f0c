import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from pluriverse_protocol import BadBody, decode_from_agent
from pluriverse_protocol.env_options import Option, Value, complete, parse, parse_values
from pluriverse_protocol.limits import MAX_OPTION_CHARS, MAX_OPTION_CHOICES, MAX_OPTION_INTEGER, MAX_OPTIONS
from support.wire import json_values

OPTIONS = {
    "level": Option("integer", 1, minimum=1, maximum=9),
    "mode": Option("integer", 0, choices=(0, 2, 5)),
    "speed": Option("number", 1.0, minimum=0.5),
    "music": Option("boolean", False),
    "skill": Option("string", "novice", choices=("novice", "expert")),
}
DEFAULTS: dict[str, Value] = {"level": 1, "mode": 0, "speed": 1.0, "music": False, "skill": "novice"}


def reset(options: Any) -> str:
    """The frame of a reset that carries ``options`` as they are."""
    headers = {"message_id": 0, "sent_at": 0}
    return json.dumps({"method": "v0.env.reset", "headers": headers, "body": {"options": options}})


def test_options_without_a_value_have_their_defaults() -> None:
    assert complete(OPTIONS, {}) == DEFAULTS
    assert complete(OPTIONS, {"mode": 5, "music": True}) == {**DEFAULTS, "mode": 5, "music": True}


def test_a_number_may_be_given_as_an_integer() -> None:
    value = complete(OPTIONS, {"speed": 2})["speed"]
    assert isinstance(value, float)
    assert value == 2.0


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"lvel": 2}, "unknown option 'lvel'; known: level, mode, speed, music, skill"),
        ({"level": 0}, "'level' is 0, expected an integer at least 1 and at most 9"),
        ({"level": True}, "'level' is True, expected an integer"),
        ({"level": 2.0}, "'level' is 2.0, expected an integer"),
        ({"mode": 1}, "'mode' is 1, expected one of 0, 2, 5"),
        ({"speed": "fast"}, "'speed' is 'fast', expected a number at least 0.5"),
        ({"music": 1}, "'music' is 1, expected a boolean"),
        ({"skill": "master"}, "'skill' is 'master', expected one of 'novice', 'expert'"),
    ],
)
def test_what_an_option_does_not_take_is_refused_with_what_there_is(given: Mapping[str, Value], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        complete(OPTIONS, given)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"a": 1}, "the option 'a': expected an object, got 1"),
        ({"a": {"default": 1}}, "the option 'a': 'type' is missing"),
        ({"a": {"type": "colour", "default": 1}}, "'type' is 'colour', expected \"integer\""),
        ({"a": {"type": "integer"}}, "'default' is missing"),
        ({"a": {"type": "integer", "default": "x"}}, "'default' is 'x', expected an integer"),
        ({"a": {"type": "integer", "default": 3, "choices": [1, 2]}}, "'default' is 3, expected one of 1, 2"),
        ({"a": {"type": "integer", "default": 1, "choices": [1, "2"]}}, "'choices' has '2', expected integers"),
        ({"a": {"type": "boolean", "default": True, "minimum": 1}}, "a boolean has neither 'minimum' nor 'maximum'"),
        ({"": {"type": "integer", "default": 1}}, "a key: Expected `str` of length >= 1"),
        ({"a": {"type": "integer", "default": MAX_OPTION_INTEGER + 1}}, "integers of at most 2⁵³"),
        (
            {"a": {"type": "integer", "default": 0, "choices": [0] * (MAX_OPTION_CHOICES + 1)}},
            "Expected `array` of length <= 256",
        ),
        (dict.fromkeys(map(str, range(MAX_OPTIONS + 1))), "Expected `object` of length <= 32"),
    ],
)
def test_what_is_no_declaration_is_refused(wrong: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        "mode",
        {"mode": [1]},
        {"mode": "x" * (MAX_OPTION_CHARS + 1)},
        {"mode": MAX_OPTION_INTEGER + 1},
        {"m" * 65: 1},
        {str(number): 1 for number in range(MAX_OPTIONS + 1)},
    ],
)
def test_what_a_peer_sends_beyond_the_limits_is_refused(wrong: Any) -> None:
    with pytest.raises(BadBody, match="'options' is"):
        decode_from_agent(reset(wrong))


@given(json_values)
def test_whatever_comes_is_options_or_a_value_error(anything: Any) -> None:
    for read in (parse, parse_values):
        try:
            read(anything)
        except ValueError:
            continue
