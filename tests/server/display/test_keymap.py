import pytest
from pluriverse_server.display import Screen
from pluriverse_server.display.keymap import PROBE_KEYCODES, Keymap, Stroke
from support.xwindow import Window
from Xlib import XK

pytestmark = pytest.mark.display

ALPHA, BETA = 0x010003B1, 0x010003B2


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_probes_have_their_keycodes_with_shift_and_without(screen: Screen, window: Window) -> None:
    for keysym, keycode in PROBE_KEYCODES.items():
        assert [window.connection.keycode_to_keysym(keycode, shift) for shift in (0, 1)] == [keysym, keysym]


async def test_function_that_needs_another_modifier_than_shift_gets_a_keycode_of_its_own(window: Window) -> None:
    keymap = Keymap(window.connection)
    printing, system_request = keymap.stroke(XK.XK_Print, ()), keymap.stroke(XK.XK_Sys_Req, ())
    assert printing is not None
    assert system_request is not None
    assert not system_request.shift
    assert system_request.keycode != printing.keycode


async def test_unknown_keysym_keeps_its_keycode_while_there_are_others(window: Window) -> None:
    keymap = Keymap(window.connection)
    first = keymap.stroke(ALPHA, ())
    assert keymap.stroke(BETA, ()) != first
    assert keymap.stroke(ALPHA, ()) == first
    keymap.reload()
    assert keymap.stroke(ALPHA, ()) == first


async def test_keysym_used_longest_ago_makes_room(window: Window) -> None:
    keymap = Keymap(window.connection)
    given: list[int] = []
    keysym = ALPHA
    while (stroke := keymap.stroke(keysym, ())) is not None and stroke.keycode not in given:
        given.append(stroke.keycode)
        keysym += 1
    assert stroke == Stroke(given[0])
    assert keymap.stroke(BETA, ()) == Stroke(given[1])
    assert keymap.stroke(ALPHA, ()) == Stroke(given[2])


async def test_spare_keycode_that_somebody_else_takes_is_left_to_them(window: Window) -> None:
    keymap = Keymap(window.connection)
    first = keymap.stroke(ALPHA, ())
    assert first is not None
    window.connection.change_keyboard_mapping(first.keycode, [(BETA, BETA)])
    keymap.reload()
    assert keymap.stroke(BETA, ()) == first
    again = keymap.stroke(ALPHA, ())
    assert again is not None
    assert again.keycode != first.keycode
