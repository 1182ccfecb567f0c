"""Examples of providers' models play by what models have asked for, as it was recorded."""

from collections.abc import Generator, Sequence
from copy import copy
from types import SimpleNamespace
from typing import Any

import anthropic_computer
import gemini_computer
import openai_computer
import pytest
from anthropic.types.beta import (
    BETA_COMPUTER_MEMBER_NAME_VALUES,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
    BetaMessage,
    BetaMessageParam,
)
from openai.types.responses import Response, ResponseInputItemParam
from pluriverse.adapters.computer import (
    Act,
    Click,
    Computer,
    Drag,
    Hold,
    Look,
    Move,
    Press,
    Scroll,
    Type,
    View,
    Wait,
    Where,
)
from pluriverse.errors import ActionError
from pydantic import TypeAdapter

pytestmark = pytest.mark.display

CTRL, SHIFT = 0xFFE3, 0xFFE1
PONG = "gym-core.PongNoFrameskip-v3"
VIEW = View((0, 0, 1440, 900), 720, 450)


@pytest.fixture(scope="module")
def computer() -> Generator[Computer]:
    with Computer(PONG, "local:1", clock="lockstep") as computer:
        yield computer


class Recorded:
    """A client whose model says one recorded thing after the other; keeps what it was sent."""

    def __init__(self, *said: Any) -> None:
        self.sent: list[dict[str, Any]] = []
        self._said = list(said)
        self.beta = SimpleNamespace(messages=SimpleNamespace(create=self._answer))
        self.responses = SimpleNamespace(create=self._answer)
        self.models = SimpleNamespace(generate_content=self._answer)

    def _answer(self, **asked: Any) -> Any:
        self.sent.append({name: copy(each) for name, each in asked.items()})
        return self._said.pop(0)


def message(*blocks: dict[str, Any]) -> BetaMessage:
    said = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": list(blocks)}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return BetaMessage.model_validate({**said, "stop_reason": "tool_use", "stop_sequence": None, "usage": usage})


def test_anthropics_model_plays(computer: Computer) -> None:
    computer.begin(seed=1)
    tool = {"type": "tool_use", "toolset_name": "computer"}
    client = Recorded(
        message(
            {**tool, "id": "a", "name": "hold_key", "input": {"text": "Up", "duration": 0.5}},
            {**tool, "id": "b", "name": "screenshot", "input": {}},
            {**tool, "id": "c", "name": "key", "input": {"text": "Hyperdrive"}},
            {**tool, "id": "d", "name": "wait", "input": {"duration": 1}},
        ),
        message({"type": "text", "text": "Done."}),
    )
    assert anthropic_computer.play(client, computer, "m", "Win.") == 0
    TypeAdapter(list[BetaMessageParam]).validate_python(client.sent[1]["messages"])
    first, second, third, fourth = client.sent[1]["messages"][2]["content"]
    for each in (first, second):
        said, seen = each["content"]
        assert said == {"type": "text", "text": "reward 0"}
        assert seen["source"]["media_type"] == "image/png"
    assert (third["is_error"], fourth["is_error"]) == (True, True)
    assert "unknown key" in third["content"][0]["text"]
    assert computer.status().elapsed == 30


def response(*actions: dict[str, Any]) -> Response:
    call: dict[str, Any] = {
        "id": "1",
        "call_id": "c",
        "pending_safety_checks": [],
        "status": "completed",
        "type": "computer_call",
    }
    output = [{**call, "actions": list(actions)}] if actions else []
    fields = {"id": "r", "object": "response", "created_at": 0, "model": "m", "output": output, "tools": []}
    return Response.model_validate({**fields, "parallel_tool_calls": True, "tool_choice": "auto"})


def test_openais_model_plays(computer: Computer) -> None:
    computer.begin(seed=1)
    actions = [{"type": "keypress", "keys": ["UP"]}, {"type": "move", "x": 9999, "y": 3}, {"type": "wait"}]
    client = Recorded(response(*actions), response())
    assert openai_computer.play(client, computer, "m", "Win.") == 0
    assert client.sent[1]["previous_response_id"] == "r"
    for sent in client.sent:
        TypeAdapter(list[ResponseInputItemParam]).validate_python(sent["input"])
    output, said = client.sent[1]["input"]
    assert output["output"]["image_url"].startswith("data:image/png;base64,")
    assert "action 2: (9999, 3) is outside the picture" in said["content"][0]["text"]
    assert "action 3: not executed" in said["content"][0]["text"]


def candidate(*asked: tuple[str, dict[str, Any]]) -> Any:
    parts = [SimpleNamespace(function_call=SimpleNamespace(name=name, args=given)) for name, given in asked]
    content = SimpleNamespace(parts=parts or [SimpleNamespace(function_call=None)])
    return SimpleNamespace(candidates=[SimpleNamespace(content=content)])


def test_gemini_plays(computer: Computer) -> None:
    computer.begin(seed=1)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("key_combination", {"keys": "up"}),
        ("click_at", {"x": 1000, "y": 0}),
        ("wait_5_seconds", {}),
    ]
    client = Recorded(candidate(*asked), candidate())
    assert gemini_computer.play(client, computer, "m", "Win.") <= 0
    done, failed, waited = (part["function_response"] for part in client.sent[1]["contents"][2]["parts"])
    assert "error" not in done["response"]
    assert "error" not in waited["response"]
    assert "expected 0 to 999" in failed["response"]["error"]
    assert waited["parts"][0]["inline_data"]["mime_type"] == "image/png"


ANTHROPIC: list[tuple[str, dict[str, Any], Act]] = [
    ("screenshot", {}, Look()),
    ("zoom", {"region": [0, 10, 100, 60]}, Look((0, 10, 100, 60))),
    ("cursor_position", {}, Where()),
    ("mouse_move", {"coordinate": [3, 4]}, Move((3, 4))),
    ("left_click", {"coordinate": [3, 4]}, Click("left", (3, 4))),
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
    ("hold_key", {"text": "a", "duration": 2}, Press((0x61,), seconds=2.0)),
    ("wait", {"duration": 1}, Wait(1.0)),
]


@pytest.mark.parametrize(("name", "given", "act"), ANTHROPIC)
def test_member_of_anthropics_toolset_is_read(name: str, given: dict[str, Any], act: Act) -> None:
    assert anthropic_computer.read(name, given) == act


def test_no_member_of_anthropics_toolset_is_left_out() -> None:
    assert {name for name, _, _ in ANTHROPIC} == set(BETA_COMPUTER_MEMBER_NAME_VALUES)  # pyright: ignore[reportUnknownArgumentType]


@pytest.mark.parametrize(
    ("action", "act"),
    [
        ({"type": "click", "button": "wheel", "x": 3, "y": 4}, Click("middle", (3, 4))),
        ({"type": "double_click", "x": 3, "y": 4, "keys": ["CTRL", "SHIFT"]}, Click("left", (3, 4), 2, (CTRL, SHIFT))),
        ({"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}, Drag(((1, 2), (3, 4)))),
        ({"type": "move", "x": 3, "y": 4, "keys": ["SHIFT"]}, Move((3, 4), (SHIFT,))),
        ({"type": "scroll", "x": 3, "y": 4, "scroll_x": -1, "scroll_y": 250}, Scroll(-1, 3, (3, 4))),
        ({"type": "keypress", "keys": ["CTRL", "C"]}, Press((CTRL, ord("c")))),
        ({"type": "keypress", "keys": ["+"]}, Press((ord("+"),))),
        ({"type": "type", "text": "日本"}, Type("日本")),
        ({"type": "wait"}, Wait(2.0)),
        ({"type": "screenshot"}, Look()),
    ],
)
def test_openais_action_is_read(action: dict[str, Any], act: Act) -> None:
    assert openai_computer.read(action) == act


@pytest.mark.parametrize(
    ("name", "given", "acts"),
    [
        ("click_at", {"x": 999, "y": 999}, [Click("left", (719, 449))]),
        ("hover_at", {"x": 500, "y": 500}, [Move((360, 225))]),
        (
            "type_text_at",
            {"x": 500, "y": 500, "text": "a", "press_enter": False},
            [Click("left", (360, 225)), Press((CTRL, 0x61)), Press((0xFFFF,)), Type("a")],
        ),
        ("scroll_at", {"x": 0, "y": 0, "direction": "down", "magnitude": 250}, [Scroll(0, 3, (0, 0))]),
        ("scroll_document", {"direction": "up"}, [Scroll(0, -5, (360, 225))]),
        ("drag_and_drop", {"x": 0, "y": 0, "destination_x": 999, "destination_y": 0}, [Drag(((0, 0), (719, 0)))]),
        ("go_back", {}, [Press((0x1008FF26,))]),
        ("open_web_browser", {}, [Look()]),
    ],
)
def test_geminis_call_is_read(name: str, given: dict[str, Any], acts: list[Act]) -> None:
    assert gemini_computer.read(name, given, VIEW) == acts


NONSENSE: list[tuple[Any, Sequence[Any]]] = [
    (anthropic_computer.read, ("left_click", {"coordinate": [3]})),
    (anthropic_computer.read, ("launch", {})),
    (openai_computer.read, ({"type": "fly"},)),
    (openai_computer.read, ({"type": "click", "x": 3, "y": 4},)),
    (gemini_computer.read, ("navigate", {"url": "http://example.org"}, VIEW)),
]


@pytest.mark.parametrize(("read", "given"), NONSENSE)
def test_nonsense_is_refused(read: Any, given: Sequence[Any]) -> None:
    with pytest.raises(ActionError):
        read(*given)
