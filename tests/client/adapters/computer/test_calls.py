import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.computer import Act, Click, Drag, Hold, Look, Mark, Move, Press, Scroll, Type, Wait
from pluriverse.adapters.computer.calls import read
from pluriverse.errors import ActionError
from support.wire import json_values

CTRL = 0xFFE3

CASES: list[tuple[str, dict[str, Any], Act]] = [
    ("look", {"region": [0, 10, 100, 60]}, Look((0, 10, 100, 60))),
    ("click", {}, Click()),
    ("click", {"x": 3, "y": 4, "button": "right", "count": 2, "holding": "ctrl"}, Click("right", (3, 4), 2, (CTRL,))),
    ("move_pointer", {"mark": 7}, Move(Mark(7))),
    ("hold_button", {"down": True}, Hold(True)),
    ("drag", {"path": [[1, 2], 3]}, Drag(((1, 2), Mark(3)))),
    ("scroll", {"down": -3}, Scroll(0, -3)),
    ("type_text", {"text": "héllo\n"}, Type("héllo\n")),
    ("press_keys", {"keys": "ctrl+S", "repeat": 3}, Press((CTRL, ord("s")), 3)),
    ("wait", {"seconds": 1}, Wait(1.0)),
]


@pytest.mark.parametrize(("name", "arguments", "act"), CASES)
def test_call_is_read(name: str, arguments: dict[str, Any], act: Act) -> None:
    assert read({"name": name, "arguments": arguments}) == act


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"name": "click", "arguments": {"x": "here", "y": 4}}, "click: x: .*integer"),
        ({"name": "click", "arguments": {"x": 3}}, "either x and y, or a mark"),
        ({"name": "click", "arguments": {"mark": 100}}, "less than or equal to 99"),
        ({"name": "click", "arguments": {"coordinate": [3, 4]}}, "click: coordinate: Unexpected"),
        ({"name": "move_pointer"}, "either x and y, or a mark"),
        ({"name": "press_keys", "arguments": {"keys": "hyperspace"}}, "unknown key"),
        ({"name": "wait", "arguments": {"seconds": float("nan")}}, "wait: seconds"),
        ({"name": "type_text", "arguments": {"text": "x" * 10_000_000}}, "at most 10000"),
        ({"name": "launch"}, "unknown action 'launch'; expected one of click"),
        ({"name": 5}, "a call: name"),
        (None, "a call"),
    ],
)
def test_nonsense_is_refused_with_what_was_expected(call: Any, said: str) -> None:
    with pytest.raises(ActionError, match=said) as refused:
        read(call)
    assert len(str(refused.value)) < 500


@given(
    st.sampled_from([name for name, _, _ in CASES]) | json_values,
    st.dictionaries(st.sampled_from(["x", "y", "path", "seconds", "region", "repeat", "down", "self"]), json_values),
)
def test_whatever_is_given_is_an_act_or_refused(name: Any, arguments: dict[str, Any]) -> None:
    with contextlib.suppress(ActionError):
        read({"name": name, "arguments": arguments})
