import os
import signal
from collections.abc import AsyncIterator, Iterator

import pytest
from pluriverse_protocol.events import BUTTONS, KeyEvent, PointerEvent
from pluriverse_protocol.keysyms import keysyms
from pluriverse_server.display import AsyncInjector, DisplayLost, Injector, Screen
from pluriverse_server.display.keymap import PROBE_KEYCODES
from pluriverse_server.process import run
from pluriverse_server.x11.modifier_lock import MODIFIER, KeyboardLocks, Locks
from support.xwindow import CLICKS, Window
from Xlib import XK, X

pytestmark = pytest.mark.display

# A call on a frozen server must end by this; the calls of a live one are a thousand times quicker.
SHORT_DEADLINE_S = 0.3

UNKNOWN = [0x01000000 + character for character in range(0x3B1, 0x3B1 + 24)]  # Greek, which the map lacks


@pytest.fixture
def injector(screen: Screen) -> Iterator[Injector]:
    injector = Injector(screen.display, screen.xauthority)
    yield injector
    injector.close()


@pytest.fixture
async def slow_to_give_up(screen: Screen) -> AsyncIterator[AsyncInjector]:
    injector = await AsyncInjector.open(screen.display, screen.xauthority, deadline_s=SHORT_DEADLINE_S)
    yield injector
    await injector.close()


def press(*keysyms: int) -> list[KeyEvent | PointerEvent]:
    return [KeyEvent(keysym, down) for keysym in keysyms for down in (True, False)]


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_keys_arrive_as_what_they_mean(injector: Injector, window: Window) -> None:
    plain = [XK.XK_a, XK.XK_A, XK.XK_1, XK.XK_exclam, XK.XK_at, XK.XK_Left, XK.XK_KP_1, XK.XK_F5, 0xBEEF1]
    named = [keysyms()[name] for name in ("EuroSign", "eacute", "dead_acute", "XF86AudioPlay", "SunProps")]
    for keysym in (*plain, *named):
        injector.apply(press(keysym))
        assert window.typed() == keysym
    window.wait_for_held(0)


async def test_each_of_nine_buttons_goes_down_and_up(injector: Injector, window: Window) -> None:
    for button in range(1, BUTTONS + 1):
        injector.apply([PointerEvent(10, 20, 1 << button - 1), PointerEvent(10, 20, 0)])
    assert [window.clicked() for _ in range(2 * BUTTONS)] == CLICKS


async def test_shift_that_is_held_stays_held(injector: Injector, window: Window) -> None:
    injector.apply([KeyEvent(XK.XK_Shift_L, True), *press(XK.XK_A)])
    assert window.typed() == XK.XK_A
    window.wait_for_held(1)
    injector.apply([KeyEvent(XK.XK_Shift_L, False)])
    window.wait_for_held(0)


async def test_held_spare_keycode_is_never_given_away(
    injector: Injector, window: Window, caplog: pytest.LogCaptureFixture
) -> None:
    injector.apply([KeyEvent(keysym, True) for keysym in UNKNOWN])
    dropped = caplog.text.count("every spare keycode is held")
    assert 0 < dropped < len(UNKNOWN)
    held = window.wait_for_held(len(UNKNOWN) - dropped)
    assert not held & set(PROBE_KEYCODES.values())
    injector.apply([KeyEvent(UNKNOWN[0], False)])
    still_held = window.wait_for_held(len(held) - 1)
    injector.apply([KeyEvent(UNKNOWN[-1], True)])
    assert window.wait_for_held(len(held)) == held > still_held


async def test_keys_go_down_once_and_up_when_nobody_holds_them(injector: Injector, window: Window) -> None:
    injector.apply([KeyEvent(XK.XK_c, False), *[KeyEvent(XK.XK_a, True)] * 2, KeyEvent(XK.XK_b, True)])
    edges = [window.event(X.KeyPress, X.KeyRelease) for _ in range(2)]
    assert [(edge.type, window.connection.keycode_to_keysym(edge.detail, 0)) for edge in edges] == [
        (X.KeyPress, XK.XK_a),
        (X.KeyPress, XK.XK_b),
    ]
    # One key under two keysyms.
    injector.apply([KeyEvent(XK.XK_A, True), KeyEvent(XK.XK_a, False), KeyEvent(XK.XK_b, False)])
    window.wait_for_held(1)
    injector.apply([KeyEvent(XK.XK_A, False)])
    window.wait_for_held(0)


async def test_pointer_moves_and_clicks(injector: Injector, window: Window) -> None:
    injector.apply([PointerEvent(30, 40, 0b1), PointerEvent(50, 60, 0b101), PointerEvent(50, 60, 0)])
    press = window.event(X.ButtonPress)
    assert (press.detail, press.root_x, press.root_y) == (1, 30, 40)
    press = window.event(X.ButtonPress)
    assert (press.detail, press.root_x, press.root_y) == (3, 50, 60)
    assert {window.event(X.ButtonRelease).detail, window.event(X.ButtonRelease).detail} == {1, 3}
    # The pointer stays on the screen.
    injector.apply([PointerEvent(65535, 65535, 0)])
    window.wait_for_pointer(319, 239)


async def test_release_all_lets_go_of_keys_and_buttons(injector: Injector, window: Window) -> None:
    injector.apply([KeyEvent(XK.XK_Left, True), KeyEvent(XK.XK_z, True), PointerEvent(1, 1, 0b11)])
    window.wait_for_held(2)
    injector.release_all()
    window.wait_for_held(0)
    assert {window.event(X.ButtonRelease).detail, window.event(X.ButtonRelease).detail} == {1, 2}
    injector.apply(press(XK.XK_Left))
    window.wait_for_held(0)


async def test_close_lets_go_and_can_be_repeated(injector: Injector, window: Window) -> None:
    injector.apply([KeyEvent(XK.XK_Left, True)])
    injector.close()
    window.wait_for_held(0)
    injector.close()
    with pytest.raises(DisplayLost):
        injector.apply([])


async def test_keymap_that_somebody_changes_is_followed(injector: Injector, window: Window) -> None:
    injector.apply(press(XK.XK_a))
    assert window.event(X.KeyPress).detail == 38
    window.connection.change_keyboard_mapping(38, [(XK.XK_z, XK.XK_Z)])
    window.connection.change_keyboard_mapping(52, [(XK.XK_a, XK.XK_A)])
    window.connection.sync()
    injector.apply(press(XK.XK_a))
    assert window.event(X.KeyPress).detail == 52


async def test_dead_x_server_is_reported(slow_to_give_up: AsyncInjector, screen: Screen) -> None:
    os.kill(screen.pids["X server"], signal.SIGKILL)
    await screen.wait_for_exit()
    for action in (lambda: slow_to_give_up.apply(press(XK.XK_a)), slow_to_give_up.release_all):
        with pytest.raises(DisplayLost):
            await action()
    await slow_to_give_up.close()


@pytest.mark.parametrize("locks", [Locks(0b10), Locks(0b10000), Locks(0xFF), Locks(group=1)])
async def test_letters_and_the_keypad_are_typed_right_whatever_is_locked(
    injector: Injector, window: Window, screen: Screen, locks: Locks
) -> None:
    await run(["setxkbmap", "-display", screen.display, "us,de"], env=screen.environment)
    lock = KeyboardLocks(window.connection)
    lock.set(locks)
    window.connection.sync()
    for keysym in (XK.XK_a, XK.XK_A, XK.XK_y, XK.XK_exclam, XK.XK_eacute, XK.XK_KP_Home, XK.XK_KP_7):
        injector.apply([KeyEvent(keysym, True)])
        event = window.event(X.KeyPress)
        while XK.keysym_to_string(keysym) and event.detail == 50:  # Shift itself
            event = window.event(X.KeyPress)
        assert not event.state & ~(X.ShiftMask | MODIFIER)
        shifted = bool(event.state & X.ShiftMask)
        assert window.connection.keycode_to_keysym(event.detail, shifted) == keysym
        injector.apply([KeyEvent(keysym, False)])
    assert lock.locks_of(lock.ask())[0] == locks


async def test_lock_that_is_pressed_is_on_until_it_is_pressed_again(injector: Injector, window: Window) -> None:
    injector.apply([*press(XK.XK_Caps_Lock), *press(XK.XK_a)])
    window.connection.sync()
    assert window.connection.screen().root.query_pointer().mask == X.LockMask
    injector.apply(press(XK.XK_Caps_Lock))
    window.wait_for_held(0)
    assert not window.connection.screen().root.query_pointer().mask
