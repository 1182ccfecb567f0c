import select
import time

import pytest
from pluriverse_server.kit import PROBE_KEYSYM, Keyboard, Window
from support.typist import Typist
from Xlib import X

pytestmark = pytest.mark.display

LEFT, C, Z, SHIFT = 0xFF51, ord("c"), ord("z"), 0xFFE1


def edges(keyboard: Keyboard, count: int) -> list[tuple[int, bool]]:
    seen: list[tuple[int, bool]] = []
    while len(seen) < count:
        if not keyboard.waiting:
            assert select.select([keyboard], [], [], 60)[0], f"only {seen}"
        seen += [(edge.keysym, edge.down) for edge in keyboard.events()]
    return seen


def test_every_press_and_release_is_seen_in_order(window: Window, typist: Typist) -> None:
    keyboard = Keyboard(window)
    typist.tap(*[C, Z, LEFT] * 50)
    expected = [(keysym, down) for keysym in [C, Z, LEFT] * 50 for down in (True, False)]
    assert edges(keyboard, 300) == expected
    # A shifted letter is the same key.
    typist.down(SHIFT)
    assert edges(keyboard, 1) == [(SHIFT, True)]
    before = time.time()
    typist.down(C)
    assert select.select([keyboard], [], [], 60)[0]
    (edge,) = keyboard.events()
    assert (edge.keysym, edge.down) == (C, True)
    assert before <= edge.at <= time.time()


def test_a_held_key_does_not_repeat(window: Window, typist: Typist) -> None:
    keyboard = Keyboard(window)
    # The server's autorepeat begins after 0.66 s.
    typist.display.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOn)
    typist.down(Z)
    assert edges(keyboard, 1) == [(Z, True)]
    silence_ends = time.monotonic() + 1.0
    while (left := silence_ends - time.monotonic()) > 0:
        select.select([keyboard], [], [], left)
        assert keyboard.events() == []
    typist.up(Z)
    assert edges(keyboard, 1) == [(Z, False)]


def test_a_second_press_of_a_key_that_is_down_is_no_edge(window: Window, typist: Typist) -> None:
    keyboard = Keyboard(window)
    typist.down(C)
    typist.down(C)
    typist.up(C)
    typist.tap(Z)
    assert edges(keyboard, 4) == [(C, True), (C, False), (Z, True), (Z, False)]


def test_keys_are_seen_when_another_window_has_the_focus_and_another_client_the_keyboard(
    window: Window, typist: Typist
) -> None:
    keyboard = Keyboard(window)
    root = typist.display.screen().root
    other = root.create_window(0, 0, 10, 10, 0, X.CopyFromParent)
    other.map()
    other.set_input_focus(X.RevertToNone, X.CurrentTime)
    typist.display.sync()
    typist.tap(C)
    assert edges(keyboard, 2) == [(C, True), (C, False)]
    assert root.grab_keyboard(True, X.GrabModeAsync, X.GrabModeAsync, X.CurrentTime) == X.GrabSuccess
    typist.tap(C)
    assert edges(keyboard, 2) == [(C, True), (C, False)]


def test_the_probe_is_seen_though_it_was_mapped_and_grabbed_later(window: Window, typist: Typist) -> None:
    keyboard = Keyboard(window)
    typist.map(PROBE_KEYSYM)
    typist.display.screen().root.grab_key(248, X.AnyModifier, True, X.GrabModeAsync, X.GrabModeAsync)
    typist.tap(PROBE_KEYSYM)
    assert edges(keyboard, 2) == [(PROBE_KEYSYM, True), (PROBE_KEYSYM, False)]


def test_a_key_that_was_down_before_is_held_at_the_start(window: Window, typist: Typist) -> None:
    typist.down(LEFT)
    keyboard = Keyboard(window)
    assert keyboard.held_at_start == {LEFT}
    typist.up(LEFT)
    assert edges(keyboard, 1) == [(LEFT, False)]
