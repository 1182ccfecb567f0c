import itertools

from hypothesis import given
from hypothesis import strategies as st
from pluriverse.human.held import REPEAT_S, HumanInput, Key, Mouse
from pluriverse_protocol.events import KeyEvent, PointerEvent

BOX = (10, 20, 100, 80)
SHIFT = 0xFFE1
LATER_S = 2 * REPEAT_S

# A keyboard as it is: each of its keys is one character, and another with Shift.
CHARACTERS = {"a": "A", "1": "!", "2": '"'}


def test_a_held_key_that_repeats_is_one_press() -> None:
    hands = HumanInput(BOX)
    hands.key(Key(0.0, 0x61, True))
    for at in (0.5, 0.53, 0.56):
        hands.key(Key(at, 0x61, False))
        hands.key(Key(at, 0x61, True))
    assert hands.take(0.56 + LATER_S) == [KeyEvent(0x61, True)]


def test_a_key_that_is_pressed_again_has_been_released() -> None:
    hands = HumanInput(BOX)
    hands.key(Key(0.0, 0x61, True))
    hands.key(Key(0.1, 0x61, False))
    hands.key(Key(0.2, 0x61, True))
    assert hands.take(0.2) == [KeyEvent(0x61, True), KeyEvent(0x61, False), KeyEvent(0x61, True)]


@given(st.lists(st.sampled_from(["shift", *CHARACTERS]), max_size=30))
def test_nothing_is_held_once_the_fingers_are_off_the_keys(toggled: list[str]) -> None:
    hands, down = HumanInput(BOX), set[str]()
    clock = itertools.count()
    fingers = [*toggled, *(key for key in sorted({*toggled}) if toggled.count(key) % 2)]
    events: list[KeyEvent | PointerEvent] = []
    for key in fingers:
        character = CHARACTERS[key] if key != "shift" and "shift" in down else key
        down ^= {key}
        hands.key(Key(float(next(clock)), SHIFT if key == "shift" else ord(character), key in down))
        events += hands.take(float(next(clock)))
    pressed = [event for event in events if isinstance(event, KeyEvent)]
    for keysym in {event.keysym for event in pressed}:
        of_key = [event.down for event in pressed if event.keysym == keysym]
        assert of_key == [index % 2 == 0 for index in range(len(of_key))]
        assert len(of_key) % 2 == 0


def test_the_mouse_acts_within_the_picture_and_drags_out_of_it() -> None:
    hands = HumanInput(BOX)
    hands.mouse(Mouse(5, 5))
    hands.mouse(Mouse(5, 5, 1, True))
    hands.mouse(Mouse(5, 5, 1, False))
    assert hands.take(0.0) == []
    hands.mouse(Mouse(30, 40))
    hands.mouse(Mouse(50, 40, 1, True))
    hands.mouse(Mouse(500, 5))
    hands.mouse(Mouse(500, 5, 1, False))
    assert hands.take(0.0) == [
        PointerEvent(30, 40, 0),
        PointerEvent(50, 40, 1),
        PointerEvent(109, 20, 1),
        PointerEvent(109, 20, 0),
    ]


def test_of_a_movement_only_the_last_place_counts() -> None:
    hands = HumanInput(BOX)
    for x in range(20, 60):
        hands.mouse(Mouse(x, 40))
    assert hands.take(0.0) == [PointerEvent(59, 40, 0)]


def test_letting_go_releases_keys_and_buttons_once() -> None:
    hands = HumanInput(BOX)
    hands.key(Key(0.0, SHIFT, True))
    hands.key(Key(0.0, 0x41, True))
    hands.mouse(Mouse(30, 40, 1, True))
    hands.take(0.0)
    assert hands.presses() == [KeyEvent(SHIFT, True), KeyEvent(0x41, True), PointerEvent(30, 40, 1)]
    hands.let_go()
    hands.let_go()
    assert hands.take(0.0) == [KeyEvent(0x41, False), KeyEvent(SHIFT, False), PointerEvent(30, 40, 0)]
    assert hands.presses() == [PointerEvent(30, 40, 0)]
