"""What OpenAI's models ask for, in the types of their own SDK, and what they are answered."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import ResponseComputerToolCall, ResponseInputItemParam
from openai.types.responses.response_input_item_param import ComputerCallOutput
from pluriverse.adapters.computer import (
    Act,
    Answer,
    Click,
    Drag,
    Image,
    Look,
    Mark,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
    openai,
)
from pluriverse.adapters.computer.acts import MAX_BATCH
from pluriverse.adapters.computer.answer import NOT_EXECUTED
from pluriverse.errors import ActionError
from pydantic import TypeAdapter

CTRL, SHIFT = 0xFFE3, 0xFFE1

CASES: list[tuple[dict[str, Any], Act]] = [
    ({"type": "click", "button": "left", "x": 3, "y": 4}, Click("left", (3, 4))),
    ({"type": "click", "button": "wheel", "x": 3, "y": 4}, Click("middle", (3, 4))),
    ({"type": "click", "button": "back", "x": 3, "y": 4}, Click("back", (3, 4))),
    ({"type": "click", "button": "forward", "x": 3, "y": 4}, Click("forward", (3, 4))),
    (
        {"type": "click", "button": "right", "x": 3, "y": 4, "keys": ["CTRL", "SHIFT"]},
        Click("right", (3, 4), 1, (CTRL, SHIFT)),
    ),
    ({"type": "double_click", "x": 3, "y": 4}, Click("left", (3, 4), 2)),
    ({"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}, Drag(((1, 2), (3, 4)))),
    ({"type": "move", "x": 3, "y": 4}, Move((3, 4))),
    ({"type": "move", "x": 3, "y": 4, "keys": ["SHIFT"]}, Move((3, 4), (SHIFT,))),
    ({"type": "double_click", "x": 3, "y": 4, "keys": ["ctrl+shift"]}, Click("left", (3, 4), 2, (CTRL, SHIFT))),
    ({"type": "scroll", "x": 3, "y": 4, "scroll_x": 0, "scroll_y": 250}, Scroll(0, 3, (3, 4))),
    ({"type": "scroll", "x": 3, "y": 4, "scroll_x": -1, "scroll_y": 0}, Scroll(-1, 0, (3, 4))),
    ({"type": "keypress", "keys": ["CTRL", "C"]}, Press((CTRL, ord("c")))),
    ({"type": "keypress", "keys": ["CTRL+c"]}, Press((CTRL, ord("c")))),
    ({"type": "keypress", "keys": ["+"]}, Press((ord("+"),))),
    ({"type": "type", "text": "日本"}, Type("日本")),
    ({"type": "wait"}, Wait(openai.WAIT_S)),
    ({"type": "screenshot"}, Look()),
]


@pytest.mark.parametrize(("action", "act"), CASES)
def test_an_action_is_read_from_the_sdks_own_call(action: dict[str, Any], act: Act) -> None:
    call = ResponseComputerToolCall.model_validate(
        {"id": "1", "call_id": "c", "pending_safety_checks": [], "status": "completed", "type": "computer_call",
         "actions": [action]}
    )  # fmt: skip
    for given in (call, call.model_dump()):
        assert [openai.read(each) for each in openai.actions(given)] == [act]


def test_a_call_with_one_action_of_the_preview_is_read_too() -> None:
    assert openai.actions({"action": {"type": "wait"}}) == [{"type": "wait"}]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"type": "click", "x": 3, "y": 4}, "needs button"),
        ({"type": "click", "button": "left", "x": "3", "y": 4}, "two whole numbers"),
        ({"type": "drag", "path": [{"x": 1, "y": 2}]}, "at least two"),
        ({"type": "drag", "path": [{"x": 1, "y": 2}] * 5000}, "at most 1000"),
        ({"type": "keypress", "keys": []}, "keypress needs keys"),
        ({"type": "keypress", "keys": [5]}, "names of keys"),
        ({"type": "scroll", "x": 1, "y": 1, "scroll_x": 10**12}, "expected a number"),
        ({"type": "fly"}, "there is no action 'fly'"),
        ("click", "takes an object"),
    ],
)
def test_nonsense_is_refused_with_what_was_expected(action: Any, said: str) -> None:
    with pytest.raises(ActionError, match=said):
        openai.read(action)


def test_a_mark_stands_for_a_place() -> None:
    assert openai.read({"type": "click", "button": "left", "mark": 7}) == Click("left", Mark(7))
    assert openai.read({"type": "drag", "path": [{"mark": 1}, {"x": 3, "y": 4}]}) == Drag((Mark(1), (3, 4)))
    with pytest.raises(ActionError, match="takes no 'x'"):
        openai.read({"type": "move", "mark": 1, "x": 3, "y": 4})


def test_more_actions_than_a_batch_holds_are_refused() -> None:
    with pytest.raises(ActionError, match=f"at most {MAX_BATCH}"):
        openai.actions({"actions": [{"type": "wait"}] * 1000})


def test_an_answer_is_the_apis_own_item_and_says_what_failed() -> None:
    answers = [Answer(), Answer("no such key", failed=True), Answer(NOT_EXECUTED, failed=True)]
    items = openai.answer({"call_id": "c"}, answers, Image(b"x", "image/jpeg"))
    TypeAdapter(list[ResponseInputItemParam]).validate_python(items)
    output, said = items
    assert output["output"]["image_url"] == "data:image/jpeg;base64,eA=="
    assert output["status"] == "incomplete"
    assert said["content"][0]["text"] == f"action 2: no such key\naction 3: {NOT_EXECUTED}"


def test_safety_checks_are_acknowledged_if_that_is_said() -> None:
    check = {"id": "s", "code": "malicious_instructions", "message": "look twice"}
    call: dict[str, Any] = {"call_id": "c", "actions": [{"type": "wait"}], "pending_safety_checks": [check]}
    assert openai.actions(call) == [{"type": "wait"}]
    image = Image(b"x", "image/png")
    (output,) = openai.answer(call, [Answer()], image)
    assert "acknowledged_safety_checks" not in output
    (output,) = openai.answer(call, [Answer()], image, acknowledged=call["pending_safety_checks"])
    assert TypeAdapter(ComputerCallOutput).validate_python(output)
    assert output["acknowledged_safety_checks"] == [check]
