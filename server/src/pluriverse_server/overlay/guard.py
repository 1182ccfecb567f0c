"""Keeps from a browser the keys and buttons that are its own functions and not its page's.

Passive grabs on the root window bring such presses here instead of to the window that has the focus. What is the page's
isn't grabbed, and costs nothing. While a grabbed key is down the server brings everything here, so the grab is given
back at once, and what came meanwhile is sent on to the window.

Keycodes that mean nothing are given to characters that the map lacks, and are pressed at once: nobody can grab in time
what turns out to be a function. Those are grabbed in any case, with the keyboard halted until it was looked up which it
is. To halt it for every key won't do: VNC servers choose keycodes by the Shift that the keyboard says is held.

Raw events, from which ``kit.Keyboard`` reads, pass by all of this.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from ctypes import byref, c_char, c_int, c_ulong, create_string_buffer
from typing import Final

from pluriverse_server.kit import xstructures as x
from pluriverse_server.kit.keys import KEYCODES
from pluriverse_server.kit.xlib import Connection, XError

from .rules import COMMANDS, CONTROL, SHIFT, Combination, is_character, is_settled, passes

ANY_KEY: Final = 0
ANY_MODIFIER: Final = 1 << 15
NONE: Final = 0
GRAB_SYNC, GRAB_ASYNC = 0, 1
REPLAY_KEYBOARD: Final = 5
POINTER_ROOT: Final = 1
KEY_PRESS_MASK, KEY_RELEASE_MASK = 1 << 0, 1 << 1

# The modifiers that a key may be pressed with, those that make no difference left out.
HELD: Final = tuple(held for held in range(1 << 8) if not held & ~(COMMANDS | SHIFT))

# A key types something with and without Shift; what else the map has in a row is another layout or needs AltGr.
LEVELS: Final = (0, 1)

MIDDLE, WHEEL_UP, WHEEL_DOWN = 2, 4, 5
# Left, middle, right, and four for the wheel; from here on a browser goes back and forward.
FIRST_SIDE_BUTTON: Final = 8

MAPPING_BUSY: Final = 1
# The buttons can't be mapped while one is held; whoever starts a remote's screen holds none for long.
MAPPING_DEADLINE_S: Final = 2.0
MAPPING_RETRY_S: Final = 0.01

# The X server has no more.
MAX_BUTTONS: Final = 255


def with_locks(held: int) -> list[int]:
    """Modifiers with each combination of those that make no difference."""
    return [modifiers for modifiers in range(1 << 8) if modifiers & (COMMANDS | SHIFT) == held]


class KeyGuard:
    """Owns a connection to the X server, and with it the grabs: they go when it is closed or its process dies."""

    def __init__(self, allowed: Iterable[Combination] = (), *, middle_button: bool = False) -> None:
        """Guard from now on, until ``close``. Other programs must not have grabbed such keys before.

        ``allowed``: what passes beside what always does. ``middle_button``: whether that passes.

        Raises:
            NoDisplay: there is no X server.
            XError: another program has grabbed keys already, or a button is held and won't be let go.
        """
        self._connection = Connection()
        try:
            self._allowed = frozenset(allowed)
            self._event = x.XEvent()
            self._guarded: set[int] = set()
            self._halting: set[int] = set()
            self._grab_commands()
            self._grab_functions()
            self._connection.check()
            self._disable_buttons(middle=not middle_button)
        except BaseException:
            self._connection.close()
            raise

    def fileno(self) -> int:
        """The X connection, for ``select``."""
        return self._connection.fileno()

    def attend(self) -> None:
        """Decide on the keys that wait for it; never waits for any."""
        x11, display = self._connection.x11, self._connection.display
        # XPending sends what was decided before it looks.
        while x11.XPending(display):
            x11.XNextEvent(display, byref(self._event))
            if self._event.type == x.MAPPING_NOTIFY:
                x11.XRefreshKeyboardMapping(byref(self._event))
                self._grab_functions()
            elif self._event.type == x.KEY_PRESS:
                self._pressed(self._event.key)
            elif self._event.type == x.KEY_RELEASE:
                # Whatever it is a release of: one too many does no harm, one too few leaves a key held for ever.
                self._send_on()

    def close(self) -> None:
        """Let all keys pass again; the buttons stay as they are. May be called repeatedly."""
        self._connection.close()

    def _pressed(self, key: x.XKeyEvent) -> None:
        x11, display = self._connection.x11, self._connection.display
        if not self._passes(key):
            x11.XUngrabKeyboard(display, key.time)
        elif key.keycode in self._halting:
            x11.XAllowEvents(display, REPLAY_KEYBOARD, key.time)
        else:
            # It came while a grabbed key was down.
            self._send_on()

    def _passes(self, key: x.XKeyEvent) -> bool:
        return passes(self._keysyms(key.keycode), key.state, self._allowed)

    def _send_on(self) -> None:
        """Give the event to the window that would have had it."""
        x11, display, key = self._connection.x11, self._connection.display, self._event.key
        focus, revert_to, down = c_ulong(), c_int(), (c_char * 32)()
        x11.XGetInputFocus(display, byref(focus), byref(revert_to))
        if focus.value <= POINTER_ROOT:
            return
        key.window = focus.value
        self._send()
        # The key's next event may have overtaken this one; the window must not believe it held, or not, for ever.
        x11.XQueryKeymap(display, down)
        now = x.KEY_PRESS if down.raw[key.keycode // 8] >> key.keycode % 8 & 1 else x.KEY_RELEASE
        if now != key.type and (now == x.KEY_RELEASE or self._passes(key)):
            key.type = now
            self._send()

    def _send(self) -> None:
        key = self._event.key
        mask = KEY_PRESS_MASK if key.type == x.KEY_PRESS else KEY_RELEASE_MASK
        self._connection.x11.XSendEvent(self._connection.display, key.window, True, mask, byref(self._event))

    def _grab_commands(self) -> None:
        """Every key while Ctrl, Alt or Super is held, but for what passes then."""
        connection, keysyms = self._connection, {keycode: self._keysyms(keycode) for keycode in KEYCODES}
        for held in HELD:
            if not held & COMMANDS:
                continue
            passing = [keycode for keycode in KEYCODES if passes(keysyms[keycode], held, self._allowed)]
            for modifiers in with_locks(held):
                self._grab_key(ANY_KEY, modifiers)
                for keycode in passing:
                    connection.x11.XUngrabKey(connection.display, keycode, modifiers, connection.root)
                if held & CONTROL:
                    self._grab_button(WHEEL_UP, modifiers)
                    self._grab_button(WHEEL_DOWN, modifiers)

    def _grab_functions(self) -> None:
        """Keys that aren't the page's even by themselves, or may become so."""
        connection = self._connection
        for keycode in set(KEYCODES) - self._guarded:
            keysyms = self._keysyms(keycode)
            if is_settled(keysyms):
                continue
            self._guarded.add(keycode)
            if all(map(is_character, keysyms)):
                self._halting.add(keycode)
                self._grab_key(keycode, ANY_MODIFIER, halt=True)
                continue
            self._grab_key(keycode, ANY_MODIFIER)
            for held in HELD:
                if passes(keysyms, held, self._allowed):
                    for modifiers in with_locks(held):
                        connection.x11.XUngrabKey(connection.display, keycode, modifiers, connection.root)

    def _keysyms(self, keycode: int) -> list[int]:
        x11, display = self._connection.x11, self._connection.display
        keysyms = (x11.XkbKeycodeToKeysym(display, keycode, 0, level) for level in LEVELS)
        return [keysym for keysym in keysyms if keysym]

    def _grab_key(self, keycode: int, modifiers: int, *, halt: bool = False) -> None:
        connection, mode = self._connection, GRAB_SYNC if halt else GRAB_ASYNC
        connection.x11.XGrabKey(connection.display, keycode, modifiers, connection.root, False, GRAB_ASYNC, mode)

    def _grab_button(self, button: int, modifiers: int) -> None:
        connection = self._connection
        connection.x11.XGrabButton(
            connection.display,
            button,
            modifiers,
            connection.root,
            False,
            0,
            GRAB_ASYNC,
            GRAB_ASYNC,
            NONE,
            NONE,
        )

    def _disable_buttons(self, *, middle: bool) -> None:
        """Have the server drop what buttons do that aren't the page's. A grab wouldn't do: they're often held together.

        Raises:
            XError: one of them is being held.
        """
        x11, display = self._connection.x11, self._connection.display
        mapping = create_string_buffer(MAX_BUTTONS)
        count: int = x11.XGetPointerMapping(display, mapping, MAX_BUTTONS)
        for button in range(1, count + 1):
            if button >= FIRST_SIDE_BUTTON or (middle and button == MIDDLE):
                mapping[button - 1] = 0
        deadline = time.monotonic() + MAPPING_DEADLINE_S
        while x11.XSetPointerMapping(display, mapping, count) == MAPPING_BUSY:
            if time.monotonic() > deadline:
                raise XError(f"the pointer's buttons could not be mapped: one is held for {MAPPING_DEADLINE_S:g} s")
            time.sleep(MAPPING_RETRY_S)
