"""What OpenAI's models ask for, in the types of their own SDK, and what they are answered."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import ResponseComputerToolCall
from openai.types.responses.response_input_item_param import ComputerCallOutput
from pluriverse.adapters.computer import Act, Answer, Click, Drag, Image, Look, Move, Press, Scroll, Type, Wait, openai
from pluriverse.adapters.computer.acts import MAX_BATCH
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
    ({"type": "scroll", "x": 3, "y": 4, "scroll_x": 0, "scroll_y": 250}, Scroll(0, 3, (3, 4))),
    ({"type": "scroll", "x": 3, "y": 4, "scroll_x": -1, "scroll_y": 0}, Scroll(-1, 0, (3, 4))),
    ({"type": "keypress", "keys": ["CTRL", "c"]}, Press((CTRL, ord("c")))),
    ({"type": "keypress", "keys": ["CTRL+c"]}, Press((CTRL, ord("c")))),
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
    assert [openai.read(each) for each in openai.actions(call.model_dump())] == [act]


def test_a_call_with_one_action_of_the_preview_is_read_too() -> None:
    assert openai.actions({"action": {"type": "wait"}}) == [{"type": "wait"}]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"type": "click", "x": 3, "y": 4}, "needs button"),
        ({"type": "click", "button": "left", "x": "3", "y": 4}, "two whole numbers"),
        ({"type": "drag", "path": [{"x": 1, "y": 2}]}, "at least two"),
        ({"type": "drag", "path": [{"x": 1, "y": 2}] * 5000}, "at most 1000"),
        ({"type": "keypress", "keys": []}, "names of keys"),
        ({"type": "keypress", "keys": [5]}, "names of keys"),
        ({"type": "scroll", "x": 1, "y": 1, "scroll_x": 10**12}, "expected a number"),
        ({"type": "fly"}, "there is no action 'fly'"),
        ("click", "takes an object"),
    ],
)
def test_nonsense_is_refused_with_what_was_expected(action: Any, said: str) -> None:
    with pytest.raises(ActionError, match=said):
        openai.read(action)


def test_more_actions_than_a_batch_holds_are_refused() -> None:
    with pytest.raises(ActionError, match=f"at most {MAX_BATCH}"):
        openai.actions({"actions": [{"type": "wait"}] * 1000})


def test_an_answer_is_the_apis_own_item_and_says_what_failed() -> None:
    output, *said = openai.answer({"call_id": "c"}, Answer("no such key", Image(b"x", "image/jpeg"), failed=True))
    TypeAdapter(ComputerCallOutput).validate_python(output)
    assert output["output"]["image_url"] == "data:image/jpeg;base64,eA=="
    assert output["status"] == "incomplete"
    assert said[0]["content"][0]["text"] == "no such key"
    assert len(openai.answer({"call_id": "c"}, Answer(image=Image(b"x", "image/png")))) == 1
