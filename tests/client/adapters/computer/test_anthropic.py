"""What Anthropic's models ask for, in the types of their own SDK, and what they are answered."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from anthropic.types.beta import (
    BETA_COMPUTER_MEMBER_NAME_VALUES,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
    BetaComputerToolUseBlock,
    BetaToolResultBlockParam,
)
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.computer import (
    Act,
    Answer,
    Click,
    Drag,
    Hold,
    Image,
    Look,
    Mark,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
    Where,
    anthropic,
)
from pluriverse.adapters.computer.acts import MAX_TEXT_CHARS
from pluriverse.errors import ActionError
from pydantic import TypeAdapter

CTRL, SHIFT = 0xFFE3, 0xFFE1

CASES: list[tuple[str, dict[str, Any], Act]] = [
    ("screenshot", {}, Look()),
    ("zoom", {"region": [0, 10, 100, 60]}, Look((0, 10, 100, 60))),
    ("cursor_position", {}, Where()),
    ("mouse_move", {"coordinate": [3, 4]}, Move((3, 4))),
    ("left_click", {"coordinate": [3, 4]}, Click("left", (3, 4))),
    ("left_click", {}, Click("left")),
    ("right_click", {"coordinate": [3, 4], "text": "ctrl+shift"}, Click("right", (3, 4), 1, (CTRL, SHIFT))),
    ("middle_click", {"coordinate": [3, 4]}, Click("middle", (3, 4))),
    ("double_click", {"coordinate": [3, 4]}, Click("left", (3, 4), 2)),
    ("triple_click", {"coordinate": None}, Click("left", None, 3)),
    ("left_click_drag", {"start_coordinate": [1, 2], "coordinate": [3, 4]}, Drag(((1, 2), (3, 4)))),
    ("left_mouse_down", {}, Hold(True)),
    ("left_mouse_up", {}, Hold(False)),
    ("scroll", {"scroll_direction": "up", "scroll_amount": 3}, Scroll(0, -3)),
    ("scroll", {"scroll_direction": "right", "scroll_amount": 2, "coordinate": [1, 1]}, Scroll(2, 0, (1, 1))),
    ("type", {"text": "héllo\n"}, Type("héllo\n")),
    ("key", {"text": "ctrl+s"}, Press((CTRL, ord("s")))),
    ("key", {"text": "Tab", "repeat": 3}, Press((0xFF09,), 3)),
    ("hold_key", {"text": "a", "duration": 2}, Press((0x61,), seconds=2.0)),
    ("wait", {"duration": 1}, Wait(1.0)),
]


@pytest.mark.parametrize(("name", "given", "act"), CASES)
def test_a_member_of_the_toolset_is_read_from_the_sdks_own_block(name: str, given: dict[str, Any], act: Act) -> None:
    block = {"type": "tool_use", "id": "a", "toolset_name": "computer", "name": name, "input": given}
    parsed: Any = TypeAdapter[Any](BetaComputerToolUseBlock).validate_python(block)
    assert anthropic.read(parsed) == anthropic.read(parsed.model_dump()) == act
    answered = anthropic.answer(parsed, Answer())
    TypeAdapter(BetaToolResultBlockParam).validate_python(answered)
    assert (answered["tool_use_id"], answered["toolset_name"]) == ("a", "computer")


def test_no_member_of_the_toolset_is_left_out() -> None:
    assert {name for name, _, _ in CASES} == set(BETA_COMPUTER_MEMBER_NAME_VALUES)  # pyright: ignore[reportUnknownArgumentType]


@pytest.mark.parametrize(("name", "given", "act"), CASES)
def test_the_tool_of_2025_asks_for_the_same(name: str, given: dict[str, Any], act: Act) -> None:
    assert anthropic.read({"id": "a", "name": "computer", "input": {"action": name, **given}}) == act


def test_a_mark_stands_for_a_coordinate() -> None:
    assert anthropic.read({"name": "left_click", "input": {"mark": 7}}) == Click("left", Mark(7))
    dragged = {"name": "left_click_drag", "input": {"start_mark": 1, "coordinate": [3, 4]}}
    assert anthropic.read(dragged) == Drag((Mark(1), (3, 4)))
    with pytest.raises(ActionError, match="mark is 100; expected a number of 1 to 99"):
        anthropic.read({"name": "left_click", "input": {"mark": 100}})


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"name": "left_click", "input": {"coordinate": ["3", 4]}}, "expected 2 whole numbers"),
        ({"name": "left_click", "input": {"coordinate": [3]}}, "expected 2 whole numbers"),
        ({"name": "left_click", "input": {"coordinate": [3, float("nan")]}}, "expected 2 whole numbers"),
        ({"name": "left_click", "input": {"coordinates": [3, 4]}}, "takes no 'coordinates'"),
        ({"name": "mouse_move", "input": {}}, "needs coordinate"),
        ({"name": "key", "input": {"text": "hyperspace"}}, "no key is called"),
        ({"name": "key", "input": {"text": "a", "repeat": 10**9}}, "expected a number of 1 to 100"),
        ({"name": "hold_key", "input": {"text": "a", "duration": 101}}, "0 to 100"),
        ({"name": "wait", "input": {"duration": True}}, "expected a number"),
        ({"name": "scroll", "input": {"scroll_direction": "sideways", "scroll_amount": 1}}, "one of up, down"),
        ({"name": "type", "input": {"text": "x" * 10_000_000}}, f"at most {MAX_TEXT_CHARS}"),
        ({"name": "launch", "input": {}}, "there is no action 'launch'; expected one of screenshot"),
        ({"name": "left_click", "input": "here"}, "expected an object"),
        ({"name": 5, "input": {}}, "expected a text"),
        ({"input": {}}, "needs name"),
        (None, "takes an object"),
        ([], "takes an object"),
    ],
)
def test_nonsense_is_refused_with_what_was_expected(block: Any, said: str) -> None:
    with pytest.raises(ActionError, match=said) as refused:
        anthropic.read(block)
    assert len(str(refused.value)) < 500


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=5,
)


@given(
    st.sampled_from([name for name, _, _ in CASES]),
    st.dictionaries(st.sampled_from(["coordinate", "text", "duration", "region", "repeat", "scroll_amount"]), json),
)
def test_whatever_is_given_is_an_act_or_refused(name: str, given: dict[str, Any]) -> None:
    try:
        anthropic.read({"name": name, "input": given})
    except ActionError:
        return


def test_an_answer_is_the_apis_own_block() -> None:
    block = {"id": "toolu_1"}
    picture = anthropic.answer(block, Answer(image=Image(b"png", "image/png")))
    text = anthropic.answer(block, Answer("no", failed=True))
    for result in (picture, text):
        TypeAdapter(BetaToolResultBlockParam).validate_python(result)
    source = picture["content"][0]["source"]
    assert (base64.b64decode(source["data"]), source["media_type"]) == (b"png", "image/png")
    assert (text["tool_use_id"], text["is_error"], text["content"][0]["text"]) == ("toolu_1", True, "no")
    assert not {"is_error", "toolset_name"} & picture.keys()
