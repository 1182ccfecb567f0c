import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.errors import ActionError
from pluriverse.vnc.connection import InputEvent, InputState
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.rfb import messages

keys = st.builds(KeyEvent, st.integers(1, 4), st.booleans())
pointers = st.builds(PointerEvent, st.integers(0, 9), st.integers(0, 9), st.integers(0, 3))


def test_ninth_button_is_refused_where_the_server_does_not_take_it_and_not_pressed_again_unasked() -> None:
    held, forward = InputState(), PointerEvent(1, 2, 0x101)
    with pytest.raises(ActionError, match="ninth button"):
        held.messages([KeyEvent(0x61, True), forward])
    assert held.releases() == []
    assert held.messages([forward], extended=True) == messages.pointer_event(1, 2, 0x101, extended=True)
    assert held.presses() == [PointerEvent(1, 2, 1)]


def test_what_was_pressed_last_is_let_go_first() -> None:
    held = InputState()
    held.messages([KeyEvent(1, True), KeyEvent(2, True), KeyEvent(1, True), PointerEvent(5, 6, 1)])
    assert held.release() == messages.key_event(2, False) + messages.key_event(1, False) + messages.pointer_event(
        5, 6, 0
    )


@given(st.lists(keys | pointers))
def test_after_a_release_nothing_is_held(events: list[InputEvent]) -> None:
    held = InputState()
    held.messages(events)
    down = {event.keysym: event.down for event in events if isinstance(event, KeyEvent)}
    released = held.release()
    assert all((messages.key_event(key, False) in released) == pressed for key, pressed in down.items())
    held.note(held.releases())
    held.note(held.releases())
    assert held.release() == b""


def test_what_is_held_is_pressed_again_as_it_is() -> None:
    held = InputState()
    held.note([KeyEvent(1, True), KeyEvent(2, True), KeyEvent(1, False), PointerEvent(5, 6, 1)])
    assert held.presses() == [KeyEvent(2, True), PointerEvent(5, 6, 1)]
    held.note(held.releases())
    assert held.presses() == []
