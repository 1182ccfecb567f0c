import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.env.actions import Action, parse_actions
from pluriverse.errors import ActionError
from pluriverse.spaces import PEEK_REWARD
from pluriverse_protocol.events import JoystickEvent, KeyEvent, PointerEvent
from pluriverse_protocol.limits import MAX_EVENTS_PER_ACTION
from support.wire import events


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (("KeyEvent", "ArrowUp", True), KeyEvent(0xFF52, True)),
        (("KeyEvent", "a", 0), KeyEvent(ord("a"), False)),
        (["KeyEvent", 0xBEEF1, True], KeyEvent(0xBEEF1, True)),
        (("KeyEvent", np.int64(97), np.bool_(True)), KeyEvent(97, True)),
        (("PointerEvent", 3, 4, 1), PointerEvent(3, 4, 1)),
        (("PointerEvent", *np.array([3, 4, 1])), PointerEvent(3, 4, 1)),
        (("JoystickAxisXEvent", 0.5), JoystickEvent("JoystickAxisXEvent", 0.5)),
        (KeyEvent(5, True), KeyEvent(5, True)),
    ],
)
def test_events_may_be_written_in_several_ways(event: Any, expected: Any) -> None:
    assert parse_actions([[event]], 1) == [Action((expected,))]


@given(st.lists(st.lists(events, max_size=4), max_size=4))
def test_events_of_the_protocol_are_taken_as_they_are(action_n: list[Any]) -> None:
    assert parse_actions(action_n, len(action_n)) == [Action(tuple(action)) for action in action_n]


def test_peek_is_no_event() -> None:
    assert parse_actions([[PEEK_REWARD, KeyEvent(1, True)], ()], 2) == [Action((KeyEvent(1, True),), True), Action()]


NO_ACTIONS: list[tuple[Any, str]] = [
    (None, "expected a list of 2 actions, got None"),
    ("up", "expected a list of 2 actions"),
    ([[]], "expected 2 actions, one for each remote, got 1"),
    ([[], 3], "action 1 is 3; expected a list of events"),
    ([[], "up"], "action 1 is 'up'"),
    ([[], [("KeyEvent", "nonsense", True)]], r"action 1: \('KeyEvent', 'nonsense', True\) isn't an event"),
    ([[], ["up"]], "action 1: 'up' isn't an event: expected"),
    ([[], [KeyEvent(-1, True)]], "action 1: .* KeyEvent takes"),
    ([[], [("KeyEvent", "a", True)] * (MAX_EVENTS_PER_ACTION + 1)], "has 1025 events, over 1024"),
]


@pytest.mark.parametrize(("action_n", "expected"), NO_ACTIONS)
def test_what_is_no_action_is_refused_by_index_and_event(action_n: Any, expected: str) -> None:
    with pytest.raises(ActionError, match=expected):
        parse_actions(action_n, 2)


@given(
    st.recursive(st.none() | st.integers() | st.text() | st.floats(), lambda inner: st.lists(inner) | st.tuples(inner))
)
def test_anything_at_all_is_taken_or_refused(action_n: Any) -> None:
    with contextlib.suppress(ActionError):
        parse_actions(action_n, 1)
