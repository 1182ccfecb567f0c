"""The guard on real screens, with keys and buttons that come in as agents' do."""

import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import pytest
from pluriverse_server.manifest.key_combinations import parse_combination
from pluriverse_server.process import ChildProcess
from pluriverse_server.x11.modifier_lock import ModifierLock
from support.input_devices import CONTROL, InputDevice, press, tap
from support.rfb import RfbClient
from support.waiting import eventually
from support.xwindow import Window
from Xlib import X

pytestmark = [pytest.mark.slow, pytest.mark.display]

StartOverlay = Callable[..., Awaitable[ChildProcess]]


CAPS_LOCK, NUM_LOCK = 0xFFE5, 0xFF7F
STATE: Final = X.ShiftMask | X.ControlMask | X.Mod1Mask | X.Mod4Mask
MARK: Final = ord("m")
F13: Final = 0xFFCA

BLOCKED: Final = (
    *(f"Control+{key}" for key in "tnwrpsofghjkludb+-0123456789"),
    *(f"Control+Shift+{key}" for key in "ijctnwrbomav"),
    *("Control+Tab", "Control+Shift+Tab", "Control+Page_Down", "Control+F4", "Control+Escape", "Control+Return"),
    *("Control+Shift+Delete", "Control+KP_Insert", "Control+KP_Add"),
    *("Alt+F4", "Alt+Left", "Alt+Right", "Alt+Home", "Alt+d", "Alt+f", "Alt+Return", "Super+t", "Control+Alt+t"),
    *("F1", "F3", "F5", "F6", "F7", "F10", "F11", "F12", "Shift+F10", "Shift+F5", "Shift+Escape", "Menu", "Help"),
)
PASSING: Final = (
    *("a", "Shift+a", "7", "space", "Return", "Tab", "Escape", "Left", "Page_Down", "F2", "KP_Insert", "Pause"),
    *(f"Control+{key}" for key in "acvxyz"),
    *("Control+Left", "Control+Shift+Right", "Control+Home", "Control+BackSpace", "Control+Delete"),
)


def seen_before_mark(window: Window, device: InputDevice) -> list[tuple[int, int]]:
    """What was pressed until now: keysyms without Shift, and the modifiers that were held; not those themselves."""
    tap(device, MARK)
    seen: list[tuple[int, int]] = []
    while True:
        event = window.event(X.KeyPress)
        keysym = window.connection.keycode_to_keysym(event.detail, 0)
        if keysym == MARK and not event.state & STATE:
            return seen
        if not 0xFFE1 <= keysym <= 0xFFEE and keysym != NUM_LOCK:
            seen.append((keysym, event.state & STATE))


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_keys_of_the_browser_are_kept_from_it_and_those_of_the_page_are_not(
    overlay: StartOverlay, window: Window, device: InputDevice
) -> None:
    await overlay("--filter-keys")
    for text in BLOCKED:
        press(device, text)
    assert seen_before_mark(window, device) == []
    for text in PASSING:
        press(device, text)
    assert seen_before_mark(window, device) == [parse_combination(text) for text in PASSING]


async def test_locks_make_no_difference(overlay: StartOverlay, window: Window, injector: InputDevice) -> None:
    """Not by way of VNC, whose server turns locks off to type what it's told."""
    await overlay("--filter-keys")
    # What keeps clicks apart in lockstep is one, too.
    lock = ModifierLock(window.connection)
    for keysym in (CAPS_LOCK, NUM_LOCK, None):
        if keysym is None:
            lock.toggle()
            window.connection.sync()
        else:
            tap(injector, keysym)
        for text in ("Control+t", "Alt+F4", "F5", "Shift+Escape", "Control+c", "Escape"):
            press(injector, text)
        assert seen_before_mark(window, injector) == [parse_combination("Control+c"), parse_combination("Escape")]


async def test_what_a_runtime_allows_passes(overlay: StartOverlay, window: Window, viewer: RfbClient) -> None:
    await overlay("--filter-keys", "--allow", "0x73:4", "--allow", "0xffc2:0")
    for text in ("Control+s", "F5", "Shift+F5", "Control+Shift+s", "Control+t"):
        press(viewer, text)
    assert seen_before_mark(window, viewer) == [parse_combination("Control+s"), parse_combination("F5")]


async def test_keys_held_before_and_after_a_blocked_one_come_and_go_as_they_do(
    overlay: StartOverlay, window: Window, device: InputDevice
) -> None:
    await overlay("--filter-keys")
    left, right, up, t = 0xFF51, 0xFF53, 0xFF52, ord("t")
    for keysym, down in ((left, True), (CONTROL, True), (t, True), (left, False), (right, True), (up, True)):
        device.key(keysym, down)
    for keysym in (up, t, CONTROL, right):
        device.key(keysym, False)
    came: set[int] = set()
    held: set[int] = set()
    tap(device, MARK)
    while not {left, right, up, CONTROL, MARK} <= came or held:
        event = window.event(X.KeyPress, X.KeyRelease)
        keysym = window.connection.keycode_to_keysym(event.detail, 0)
        if event.type == X.KeyPress:
            came.add(keysym)
            held.add(keysym)
        else:
            held.discard(keysym)
    assert t not in came
    assert not window.held()


async def test_keys_that_come_while_the_guard_sleeps_on_a_blocked_one_come_in_order_afterwards(
    overlay: StartOverlay, window: Window, injector: InputDevice
) -> None:
    child = await overlay("--filter-keys")
    left, right, t = 0xFF51, 0xFF53, ord("t")
    injector.key(left, True)
    injector.key(CONTROL, True)
    os.kill(child.pid, signal.SIGSTOP)
    for keysym, down in ((t, True), (left, False), (right, True), (right, False), (MARK, True)):
        injector.key(keysym, down)
    window.wait_for_held(3)
    os.kill(child.pid, signal.SIGCONT)
    edges: list[tuple[int, bool]] = []
    while (right, False) not in edges:
        event = window.event(X.KeyPress, X.KeyRelease)
        edges.append((window.connection.keycode_to_keysym(event.detail, 0), event.type == X.KeyPress))
    assert edges == [(left, True), (CONTROL, True), (left, False), (right, True), (right, False)]
    for keysym in (t, MARK, CONTROL):
        injector.key(keysym, False)


async def test_a_key_that_is_held_when_ctrl_is_pressed_does_not_repeat_as_a_command(
    overlay: StartOverlay, window: Window, injector: InputDevice
) -> None:
    await overlay("--filter-keys")
    window.connection.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOn)
    injector.key(ord("t"), True)
    injector.key(CONTROL, True)
    # The server's autorepeat begins after 0.66 s.
    until = time.monotonic() + 1.0
    while (left := until - time.monotonic()) > 0:
        with contextlib.suppress(TimeoutError):
            event = window.event(X.KeyPress, timeout_s=left)
            assert not event.state & X.ControlMask or event.detail == window.connection.keysym_to_keycode(CONTROL)


async def test_keys_that_the_map_lacks_are_judged_by_what_they_are_given_as_they_are_pressed(
    overlay: StartOverlay, window: Window, injector: InputDevice
) -> None:
    await overlay("--filter-keys")
    eacute, xf86_refresh, kp_f1, hiragana_a = 0xE9, 0x1008FF29, 0xFF91, 0x1003042
    for keysym in (xf86_refresh, eacute, kp_f1, hiragana_a, F13, eacute):
        tap(injector, keysym)
    assert seen_before_mark(window, injector) == [(eacute, 0), (hiragana_a, 0), (eacute, 0)]


async def test_a_key_that_is_given_another_meaning_is_judged_by_that(
    overlay: StartOverlay, window: Window, viewer: RfbClient
) -> None:
    await overlay("--filter-keys")
    press(viewer, "q")
    assert seen_before_mark(window, viewer) == [parse_combination("q")]
    window.connection.change_keyboard_mapping(window.connection.keysym_to_keycode(ord("q")), [(F13, F13)])
    window.connection.sync()
    await eventually(lambda: not reaches(window, viewer, "F13"))


@pytest.mark.parametrize(("let", "passing"), [((), [8, 1, 3, 4]), (("--middle-button",), [2, 8, 1, 3, 4])])
async def test_button_that_pastes_does_nothing_if_it_is_not_let(
    overlay: StartOverlay, window: Window, viewer: RfbClient, let: Sequence[str], passing: list[int]
) -> None:
    await overlay("--filter-keys", *let)
    assert buttons(window, viewer, [2, 8, 1, 3, 4]) == passing


async def test_wheel_does_not_zoom(overlay: StartOverlay, window: Window, device: InputDevice) -> None:
    await overlay("--filter-keys")
    device.key(CONTROL, True)
    assert buttons(window, device, [4, 5, 1]) == [1]
    device.key(CONTROL, False)
    assert buttons(window, device, [4]) == [4]


def buttons(window: Window, device: InputDevice, pressed: Sequence[int]) -> list[int]:
    """Click each of the buttons, then the right one at another place; which of them the window has seen."""
    for button in pressed:
        for mask in (0, 1 << button - 1, 0):
            device.pointer(30, 40, mask)
    for mask in (0, 4, 0):
        device.pointer(200, 100, mask)
    seen: list[int] = []
    while (event := window.event(X.ButtonPress)).event_x != 200:
        seen.append(event.detail)
    return seen


async def test_keys_pass_again_when_the_guard_is_killed(
    overlay: StartOverlay, window: Window, viewer: RfbClient
) -> None:
    child = await overlay("--filter-keys")
    press(viewer, "Control+t")
    os.kill(child.pid, signal.SIGKILL)
    await child.wait()
    await eventually(lambda: reaches(window, viewer, "Control+t"))


def reaches(window: Window, device: InputDevice, text: str) -> bool:
    press(device, text)
    return parse_combination(text) in seen_before_mark(window, device)
