import json
from typing import Any

import pytest
from hypothesis import given
from pluriverse_protocol import BadBody, decode_from_server
from pluriverse_protocol.env_spaces import Choice, Spaces, parse
from pluriverse_protocol.limits import MAX_CHOICES, MAX_KEYS
from support.wire import all_spaces, json_values

NO_KEYS: list[int] = []
LEFT, RIGHT, FIRE = 0xFF51, 0xFF53, ord("z")
GAME = Spaces(discrete=(Choice("NOOP", ()), Choice("LEFTFIRE", (LEFT, FIRE)), Choice("RIGHT", (RIGHT,))))


def choices(count: int) -> list[dict[str, Any]]:
    return [{"name": str(number), "keys": NO_KEYS} for number in range(count)]


def described(spaces: Any) -> str:
    """The frame of a describe that carries ``spaces`` as they are."""
    body = {"env_id": "a", "env_state": "running", "fps": 60, "spaces": spaces}
    return json.dumps({"method": "v0.env.describe", "headers": {"message_id": 0, "sent_at": 0}, "body": body})


@given(all_spaces())
def test_what_is_written_is_read_as_it_was(spaces: Spaces) -> None:
    assert parse(json.loads(json.dumps(spaces.as_json()))) == spaces


def test_nothing_said_is_nothing_to_do_and_nothing_told() -> None:
    assert parse({}) == Spaces()
    assert Spaces().keyboard == ()


def test_keyboard_is_the_keys_or_else_those_of_the_choices_each_once() -> None:
    assert GAME.keyboard == (LEFT, FIRE, RIGHT)
    assert Spaces(GAME.discrete, keys=(RIGHT, FIRE, LEFT, 1)).keyboard == (RIGHT, FIRE, LEFT, 1)


def test_keys_of_later_versions_are_passed_over() -> None:
    later = {"discrete": [{"name": "go", "keys": [LEFT], "icon": "<"}], "voice": True}
    assert parse(later) == Spaces((Choice("go", (LEFT,)),))


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"discrete": "ab"}, "'discrete' is 'ab', expected list of at most"),
        ({"discrete": [{"name": "a"}]}, r"'discrete' is .*: \[0\] 'keys' is missing"),
        ({"discrete": [*choices(1), {"name": "", "keys": NO_KEYS}]}, r"\[1\] 'name' is '', expected string of 1"),
        ({"discrete": [{"name": "a", "keys": ["Left"]}]}, r"\[0\] 'keys' is \['Left'\], expected list of"),
        ({"discrete": choices(MAX_CHOICES + 1)}, f"Expected `array` of length <= {MAX_CHOICES}"),
        ({"discrete": choices(1) * 2}, "two choices '0', expected each name once"),
        ({"discrete": [{"name": "a", "keys": [LEFT]}], "keys": [RIGHT]}, "'a' has a key that isn't among 'keys'"),
        ({"keys": [*range(1, MAX_KEYS + 2)]}, f"'keys' is .*, expected list of at most {MAX_KEYS}"),
        ({"observation": 4}, "'observation' is 4, expected list of 1 to 4 sizes"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_key(wrong: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse(wrong)
    with pytest.raises(BadBody, match=f"v0.env.describe: 'spaces' is .*{complaint}"):
        decode_from_server(described(wrong))


@given(json_values)
def test_any_json_is_spaces_or_a_value_error(value: Any) -> None:
    try:
        spaces = parse(value)
    except ValueError:
        return
    assert parse(spaces.as_json()) == spaces
