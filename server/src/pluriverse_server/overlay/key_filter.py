"""Keeps from a browser the keys and buttons that are its own functions and not its page's.

Passive grabs on the root window bring such presses here instead of to the window that has the focus. What is the page's
isn't grabbed, and costs nothing. While a grabbed key is down the server brings everything here, so the grab is given
back at once, and what came meanwhile is sent on to the window.

Keycodes that mean nothing are given to characters that the map lacks, and are pressed at once: too early for a grab
what turns out to be a function. Those are grabbed in any case, with the keyboard halted until it was looked up which it
is. Halting it for every key doesn't work: VNC servers choose keycodes by the keyboard's Shift state.

Raw events, from which ``kit.Keyboard`` reads, pass by all of this.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from Xlib import X
from Xlib.protocol.event import KeyPress, KeyRelease

from pluriverse_server.kit.connection import Connection, XError
from pluriverse_server.kit.keys import KEYCODES
from pluriverse_server.x11.connection import send

from .rules import COMMANDS, CONTROL, SHIFT, Combination, is_character, is_settled, passes

# The modifiers that a key may be pressed with, those that make no difference left out.
HELD: Final = tuple(held for held in range(1 << 8) if not held & ~(COMMANDS | SHIFT))

# A key types something with and without Shift; what else the map has in a row is another layout or needs AltGr.
LEVELS: Final = (0, 1)

MIDDLE, WHEEL_UP, WHEEL_DOWN = 2, 4, 5

# The buttons can't be mapped while one is held, which doesn't last when a remote starts.
MAPPING_DEADLINE_S: Final = 2.0
MAPPING_RETRY_S: Final = 0.01

# The fields of an event beside its window.
_KEY_EVENT_FIELDS: Final = (
    *("detail", "state", "time", "root", "child", "same_screen"),
    *("root_x", "root_y", "event_x", "event_y"),
)


def with_locks(held: int) -> list[int]:
    """Return modifiers with each combination of those that make no difference."""
    return [modifiers for modifiers in range(1 << 8) if modifiers & (COMMANDS | SHIFT) == held]


class KeyFilter:
    """The grabs, and the connection that owns them: they go when it is closed or its process ends."""

    def __init__(self, allowed: Iterable[Combination] = (), *, middle_button: bool = False) -> None:
        """Filter from now on, until ``close``. Other programs must not have grabbed such keys before.

        ``allowed``: combinations that pass beside those that always do. ``middle_button``: whether that passes.
        """
        self._connection = Connection()
        self._display = self._connection.display
        self._root: Any = self._connection.root
        self._allowed = frozenset(allowed)
        self._grabbed: set[int] = set()
        self._halting: set[int] = set()
        try:
            with self._connection.used:
                self._grab_commands()
                self._grab_functions()
                send(self._display)
                self._connection.check()
                if not middle_button:
                    self._disable_middle_button()
        except BaseException:
            self._connection.close()
            raise

    def fileno(self) -> int:
        return self._connection.fileno()

    def attend(self) -> None:
        """Decide on the keys that have come, without waiting; raise NoDisplay if the X server is gone."""
        with self._connection.used:
            # This sends what was decided before it looks.
            for event in self._connection.events():
                if event.type == X.MappingNotify:
                    self._grab_functions()
                elif event.type == X.KeyPress:
                    self._pressed(event)
                elif event.type == X.KeyRelease:
                    # Every release: one too many does no harm, one too few leaves a key held for ever.
                    self._send_on(event)
            send(self._display)

    def close(self) -> None:
        """Let all keys pass again; the buttons stay as they are. May be called repeatedly."""
        self._connection.close()

    def _pressed(self, key: Any) -> None:
        if not self._passes(key):
            self._display.ungrab_keyboard(key.time)
        elif key.detail in self._halting:
            self._display.allow_events(X.ReplayKeyboard, key.time)
        else:
            # It came while a grabbed key was down.
            self._send_on(key)

    def _passes(self, key: Any) -> bool:
        return passes(self._keysyms(key.detail), key.state, self._allowed)

    def _send_on(self, key: Any) -> None:
        focus: Any = self._display.get_input_focus().focus
        if isinstance(focus, int):
            return  # none, or the one below the pointer
        self._send(key, focus, key.type)
        # The key's next event may have overtaken this one; the window must not believe for ever that it is held.
        down = self._display.query_keymap()
        now = X.KeyPress if down[key.detail // 8] >> key.detail % 8 & 1 else X.KeyRelease
        if now != key.type and (now == X.KeyRelease or self._passes(key)):
            self._send(key, focus, now)

    def _send(self, key: Any, window: Any, kind: int) -> None:
        mask = X.KeyPressMask if kind == X.KeyPress else X.KeyReleaseMask
        fields = {name: getattr(key, name) for name in _KEY_EVENT_FIELDS}
        message = (KeyPress if kind == X.KeyPress else KeyRelease)(window=window, **fields)
        window.send_event(message, event_mask=mask, propagate=True)

    def _grab_commands(self) -> None:
        """Grab every key while Ctrl, Alt or Super is held, but for what passes then."""
        keysyms = {keycode: self._keysyms(keycode) for keycode in KEYCODES}
        for held in HELD:
            if not held & COMMANDS:
                continue
            passing = [keycode for keycode in KEYCODES if passes(keysyms[keycode], held, self._allowed)]
            for modifiers in with_locks(held):
                self._grab_key(X.AnyKey, modifiers)
                self._ungrab_keys(passing, modifiers)
                if held & CONTROL:
                    for button in (WHEEL_UP, WHEEL_DOWN):
                        self._root.grab_button(
                            button, modifiers, False, 0, X.GrabModeAsync, X.GrabModeAsync, X.NONE, X.NONE
                        )

    def _grab_functions(self) -> None:
        """Grab keys that aren't the page's even by themselves, or may become so."""
        for keycode in set(KEYCODES) - self._grabbed:
            keysyms = self._keysyms(keycode)
            if is_settled(keysyms):
                continue
            self._grabbed.add(keycode)
            if all(map(is_character, keysyms)):
                self._halting.add(keycode)
                self._grab_key(keycode, X.AnyModifier, X.GrabModeSync)
                continue
            self._grab_key(keycode, X.AnyModifier)
            for held in HELD:
                if passes(keysyms, held, self._allowed):
                    for modifiers in with_locks(held):
                        self._ungrab_keys([keycode], modifiers)

    def _keysyms(self, keycode: int) -> list[int]:
        keysyms = (self._display.keycode_to_keysym(keycode, level) for level in LEVELS)
        return [keysym for keysym in keysyms if keysym]

    def _grab_key(self, keycode: int, modifiers: int, mode: int = X.GrabModeAsync) -> None:
        self._root.grab_key(keycode, modifiers, False, X.GrabModeAsync, mode)

    def _ungrab_keys(self, keycodes: Iterable[int], modifiers: int) -> None:
        for keycode in keycodes:
            self._root.ungrab_key(keycode, modifiers)

    def _disable_middle_button(self) -> None:
        """Unmap it. A grab wouldn't do: buttons are often held together."""
        mapping = list(self._display.get_pointer_mapping())
        mapping[MIDDLE - 1] = 0
        deadline = time.monotonic() + MAPPING_DEADLINE_S
        while self._display.set_pointer_mapping(mapping) == X.MappingBusy:
            if time.monotonic() > deadline:
                raise XError(f"the pointer's buttons could not be mapped: one is held for {MAPPING_DEADLINE_S:g} s")
            time.sleep(MAPPING_RETRY_S)
