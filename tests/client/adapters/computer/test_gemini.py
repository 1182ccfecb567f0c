"""What Gemini's models ask for, on their grid."""

from __future__ import annotations

from typing import Any

import pytest
from pluriverse.adapters.computer import Act, Click, Drag, Look, Mark, Move, Press, Scroll, Type, View, Wait, gemini
from pluriverse.errors import ActionError

VIEW = View((0, 0, 1440, 900), 720, 450)


def test_a_mark_stands_for_a_place() -> None:
    assert gemini.read({"name": "click_at", "args": {"mark": 7}}, VIEW) == [Click("left", Mark(7))]
    dragged = gemini.read({"name": "drag_and_drop", "args": {"mark": 1, "destination_mark": 2}}, VIEW)
    assert dragged == [Drag((Mark(1), Mark(2)))]


@pytest.mark.parametrize(
    ("call", "acts"),
    [
        ({"name": "click_at", "args": {"x": 0, "y": 0}}, [Click("left", (0, 0))]),
        ({"name": "click_at", "args": {"x": 999, "y": 999}}, [Click("left", (719, 449))]),
        ({"name": "hover_at", "args": {"x": 500, "y": 500}}, [Move((360, 225))]),
        (
            {"name": "type_text_at", "args": {"x": 500, "y": 500, "text": "a", "press_enter": False}},
            [Click("left", (360, 225)), Press((0xFFE3, 0x61)), Press((0xFFFF,)), Type("a")],
        ),
        ({"name": "key_combination", "args": {"keys": "control+c"}}, [Press((0xFFE3, 0x63))]),
        (
            {"name": "scroll_at", "args": {"x": 0, "y": 0, "direction": "down", "magnitude": 250}},
            [Scroll(0, 3, (0, 0))],
        ),
        ({"name": "scroll_document", "args": {"direction": "up"}}, [Scroll(0, -5, (360, 225))]),
        (
            {"name": "drag_and_drop", "args": {"x": 0, "y": 0, "destination_x": 999, "destination_y": 0}},
            [Drag(((0, 0), (719, 0)))],
        ),
        ({"name": "wait_5_seconds"}, [Wait(5.0)]),
        ({"name": "go_back", "args": {}}, [Press((0x1008FF26,))]),
        ({"name": "open_web_browser", "args": {}}, [Look()]),
        (
            {"name": "click_at", "args": {"x": 0, "y": 0, "safety_decision": {"decision": "require_confirmation"}}},
            [Click("left", (0, 0))],
        ),
    ],
)
def test_a_function_call_is_read(call: dict[str, Any], acts: list[Act]) -> None:
    assert gemini.read(call, VIEW) == acts


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"name": "click_at", "args": {"x": 1000, "y": 0}}, "expected 0 to 999"),
        ({"name": "click_at", "args": {"x": 1}}, "needs y"),
        ({"name": "navigate", "args": {"url": "http://example.org"}}, "there is no function 'navigate'"),
        ({"name": "type_text_at", "args": {"x": 1, "y": 1, "text": "a", "press_enter": "yes"}}, "true or false"),
        ({"name": "click_at", "args": []}, "expected an object"),
    ],
)
def test_nonsense_is_refused_with_what_was_expected(call: dict[str, Any], said: str) -> None:
    with pytest.raises(ActionError, match=said):
        gemini.read(call, VIEW)
