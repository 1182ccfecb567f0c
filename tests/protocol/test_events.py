import json
from typing import Any

import pytest
from hypothesis import given
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent, checked, from_wire, to_wire
from pluriverse_protocol.limits import MAX_COORDINATE, MAX_KEYSYM
from support.wire import events, json_values


@given(events)
def test_each_event_comes_back_from_its_list(event: Event) -> None:
    assert from_wire(json.loads(json.dumps(to_wire(event)))) == event
    assert checked(event) == event


@given(json_values)
def test_anything_is_an_event_or_a_value_error(item: Any) -> None:
    try:
        event = from_wire(item)
    except ValueError:
        return
    assert from_wire(to_wire(event)) == event


@pytest.mark.parametrize(
    ("item", "event"),
    [
        (["KeyEvent", 0xFF51, True], KeyEvent(0xFF51, down=True)),
        (["KeyEvent", 0xBEEF1, 0], KeyEvent(0xBEEF1, down=False)),
        (["KeyEvent", 122, 1], KeyEvent(122, down=True)),
        (["KeyEvent", MAX_KEYSYM, False], KeyEvent(MAX_KEYSYM, down=False)),
        (["PointerEvent", 0, 0, 0], PointerEvent(0, 0, 0)),
        (["PointerEvent", MAX_COORDINATE, MAX_COORDINATE, 511], PointerEvent(MAX_COORDINATE, MAX_COORDINATE, 511)),
        (["JoystickAxisXEvent", -0.5], JoystickEvent("JoystickAxisXEvent", -0.5)),
        (["JoystickAxisZEvent", 1], JoystickEvent("JoystickAxisZEvent", 1.0)),
        (["JoystickSlider0Event", 0], JoystickEvent("JoystickSlider0Event", 0.0)),
    ],
)
def test_events_of_agents_in_the_field_are_read(item: list[Any], event: Event) -> None:
    assert from_wire(item) == event


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        (None, "begins with its name"),
        ("KeyEvent", "begins with its name"),
        (["JoystickAxisXEvent\n", 1.0], "unknown event"),
        (["Joystick" + "X" * 33 + "Event", 1.0], "unknown event"),
        (["KeyEvent", 1], "keysym"),
        (["KeyEvent", True, True], "keysym"),
        (["KeyEvent", -1, True], "keysym"),
        (["KeyEvent", MAX_KEYSYM + 1, True], "keysym"),
        (["KeyEvent", 1, 2], "keysym"),
        (["PointerEvent", -1, 2, 0], "button mask"),
        (["PointerEvent", MAX_COORDINATE + 1, 2, 0], "button mask"),
        (["PointerEvent", 1, 2, 512], "button mask"),
        (["PointerEvent", 1, False, 0], "button mask"),
        (["RelativePointerEvent", 0x8000, 0, 0], "dx and dy"),
        (["RelativePointerEvent", 0, 0.5, 0], "dx and dy"),
        (["JoystickAxisXEvent", True], "finite number"),
        (["JoystickAxisXEvent", float("nan")], "finite number"),
        (["JoystickAxisXEvent", 10**400], "finite number"),
    ],
)
def test_what_is_no_event_is_refused_with_what_was_expected(item: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_wire(item)


@pytest.mark.parametrize(
    "event",
    [KeyEvent(-1, True), PointerEvent(0, 0, 512), JoystickEvent("Axis", 1.0), JoystickEvent("JoystickXEvent", 1e999)],
)
def test_events_made_by_hand_are_checked_as_those_of_the_wire(event: Event) -> None:
    with pytest.raises(ValueError, match=r"KeyEvent|PointerEvent|JoystickXEvent"):
        checked(event)
