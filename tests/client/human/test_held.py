from hypothesis import given
from hypothesis import strategies as st
from pluriverse.human.held import HumanInput
from pluriverse_protocol.events import JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent
from pluriverse_protocol.limits import MAX_MOTION

BOX = (10, 20, 100, 80)
SHIFT, A, B = 50, 38, 56

# A keyboard as it is: each of its keys is one character, and another with Shift; two are the same.
CHARACTERS = {A: "aA", B: "bB", 10: "1!", 11: '2"', 90: "1!"}


@given(st.lists(st.sampled_from([SHIFT, *CHARACTERS]), max_size=30))
def test_each_key_is_released_as_it_was_pressed_whatever_shift_made_of_it(toggled: list[int]) -> None:
    hands, down = HumanInput(BOX), set[int]()
    for key in [*toggled, *(key for key in sorted({*toggled}) if toggled.count(key) % 2)]:
        down ^= {key}
        if key not in down:
            hands.release(key)
        else:
            hands.press(key, 0xFFE1 if key == SHIFT else ord(CHARACTERS[key][SHIFT in down]))
    pressed = [event for event in hands.take() if isinstance(event, KeyEvent)]
    for keysym in {event.keysym for event in pressed}:
        of_key = [event.down for event in pressed if event.keysym == keysym]
        assert of_key == [index % 2 == 0 for index in range(len(of_key))]
        assert len(of_key) % 2 == 0


def test_the_mouse_acts_within_the_picture_and_drags_out_of_it() -> None:
    hands = HumanInput(BOX)
    hands.mouse(5, 5)
    hands.mouse(5, 5, 1, down=True)
    hands.mouse(5, 5, 1)
    assert hands.take() == []
    hands.mouse(30, 40)
    hands.mouse(50, 40, 1, down=True)
    hands.mouse(500, 5)
    hands.mouse(500, 5, 2, down=True)
    hands.mouse(500, 5, 1)
    assert hands.take() == [
        PointerEvent(30, 40, 0),
        PointerEvent(50, 40, 1),
        PointerEvent(109, 20, 1),
        PointerEvent(109, 20, 0),
    ]


def test_of_movements_the_last_place_counts_or_the_sum() -> None:
    hands, turning = HumanInput(BOX), HumanInput(BOX, relative=True)
    for x in range(20, 60):
        hands.mouse(x, 40)
        turning.mouse(x, -1)
    assert hands.take() == [PointerEvent(59, 40, 0)]
    assert turning.take() == [RelativePointerEvent(sum(range(20, 60)), -40, 0)]
    for _ in range(3):
        turning.mouse(MAX_MOTION, 0)
    turning.mouse(0, 0, 4, down=True)
    turning.mouse(1, 2)
    assert turning.take() == [
        RelativePointerEvent(MAX_MOTION, 0, 0),
        RelativePointerEvent(0, 0, 4),
        RelativePointerEvent(1, 2, 4),
    ]


def test_what_changes_of_gamepads_is_told_once() -> None:
    hands = HumanInput(BOX)
    for pads in ({"JoystickAxisXEvent": 0.5}, {"JoystickAxisXEvent": 0.5, "JoystickButton0Event": 1.0}, {}):
        hands.hold_pads(pads)
    assert hands.take() == [
        JoystickEvent("JoystickAxisXEvent", 0.5),
        JoystickEvent("JoystickButton0Event", 1.0),
        JoystickEvent("JoystickAxisXEvent", 0.0),
        JoystickEvent("JoystickButton0Event", 0.0),
    ]


def test_letting_go_releases_all_that_is_held_once() -> None:
    hands = HumanInput(BOX)
    hands.press(SHIFT, 0xFFE1)
    hands.press(A, 0x41)
    hands.mouse(30, 40, 1, down=True)
    hands.hold_pads({"JoystickAxisXEvent": 1.0})
    assert hands.take() == hands.presses()
    assert hands.presses() == [
        KeyEvent(0xFFE1, True),
        KeyEvent(0x41, True),
        PointerEvent(30, 40, 1),
        JoystickEvent("JoystickAxisXEvent", 1.0),
    ]
    hands.let_go()
    hands.let_go()
    assert hands.take() == [
        KeyEvent(0x41, False),
        KeyEvent(0xFFE1, False),
        PointerEvent(30, 40, 0),
        JoystickEvent("JoystickAxisXEvent", 0.0),
    ]
    assert hands.presses() == [PointerEvent(30, 40, 0)]
