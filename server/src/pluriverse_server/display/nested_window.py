"""The outer side of a nested screen: its window, the transfer of held keys and buttons, and the keyboard map."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from Xlib import X, error
from Xlib.display import Display
from Xlib.protocol import event

from pluriverse_server.x11.connection import ReportingLoss, abort, closing_on_error, hang_up, open_display

# By which nested screens find each other's windows.
TITLE: Final = "pluriverse nested screen"

# The overlay's window (overlay/block.py), which stays above.
OVERLAY_TITLE: Final = "pluriverse overlay"

# The buttons that a pointer's mask has, the wheel's among them.
BUTTONS: Final = range(1, 6)

MAPPING_KEYBOARD: Final = 1


class NestedWindow:
    """A window as large as the screen, not mapped yet. Blocking, for one thread at a time; ``abort`` is for any."""

    def __init__(self, display: str, xauthority: Path, width: int, height: int) -> None:
        self._outside = open_display(display, xauthority)
        self._inside: Display | None = None
        self._servers = f"{display}, or the one in it,"
        with closing_on_error(self._outside), ReportingLoss(self._servers):
            self._root: Any = self._outside.screen().root
            # Without a background what was there before stays until the first picture is painted over it.
            self._window: Any = self._root.create_window(
                0, 0, width, height, 0, X.CopyFromParent, background_pixmap=X.NONE, override_redirect=True
            )
            self._window.set_wm_name(TITLE)
            # Repeats from outside would be releases and presses inside, where the keys repeat by themselves.
            self._outside.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOff)
            self._outside.sync()
        self.id: int = self._window.id

    def fileno(self) -> int:
        """The connection to the outer screen, for ``select``: readable when ``follow`` may have something to do."""
        return self._outside.fileno()

    def connect_inside(self, display: str, xauthority: Path) -> None:
        """Open the X server that draws into the window, and give it the outer keyboard map."""
        self._inside = inside = open_display(display, xauthority)
        with ReportingLoss(self._servers):
            inside.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOn)
            info = self._outside.display.info
            self._copy_map(info.min_keycode, info.max_keycode - info.min_keycode + 1)

    def follow(self) -> None:
        """Copy what was changed in the outer keyboard map since the last time, and wake the inner server."""
        with ReportingLoss(self._servers):
            for _ in range(self._outside.pending_events()):
                change: Any = self._outside.next_event()
                if change.type == X.MappingNotify and change.request == MAPPING_KEYBOARD:
                    self._copy_map(change.first_keycode, change.count)
            if self._inside is not None:
                for _ in range(self._inside.pending_events()):
                    self._inside.next_event()
                self._inside.no_operation()
                self._inside.flush()

    def show(self) -> None:
        """Map it above all but the overlay, move held keys and buttons to it, and unmap those that were shown."""
        with ReportingLoss(self._servers):
            windows = [(window, *state) for window in self._root.query_tree().children if (state := _state_of(window))]
            below = [window for window, title, _ in windows if title != OVERLAY_TITLE and window.id != self.id]
            shown = [window for window, title, is_mapped in windows if title == TITLE and is_mapped]
            if any(window.id == self.id for window in shown):
                return
            if below:
                self._window.configure(sibling=below[-1], stack_mode=X.Above)
            self._window.map()
            keys, pointer = self._held_keys(), self._root.query_pointer()
            for window in shown:
                # One whose server has ended holds nothing, but must be unmapped as well.
                with contextlib.suppress(OSError, error.XError):
                    _HeldInput(window, pointer).release(keys)
                # This also ends a grab that a held button gives to the window which it was pressed in.
                window.unmap()
            held = _HeldInput(self._window, pointer)
            held.server_window.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
            held.press(keys)
            self._outside.sync()
        self.follow()

    def abort(self) -> None:
        for connection in (self._outside, self._inside):
            if connection is not None:
                abort(connection)

    def close(self) -> None:
        for connection in (self._outside, self._inside):
            if connection is not None:
                hang_up(connection)

    def _held_keys(self) -> list[tuple[int, int]]:
        """Return the keycodes that are down, modifiers first, each with its modifier bit or 0."""
        modifiers: dict[int, int] = {}
        mapping: Sequence[Sequence[int]] = self._outside.get_modifier_mapping()
        for index, keycodes in enumerate(mapping):
            modifiers.update({keycode: 1 << index for keycode in keycodes if keycode})
        down = bytes(self._outside.query_keymap())
        held = [keycode for keycode in range(8, 256) if down[keycode // 8] >> keycode % 8 & 1]
        # Another press of a lock would toggle it.
        keys = [(keycode, modifiers.get(keycode, 0)) for keycode in held if modifiers.get(keycode) != X.LockMask]
        return sorted(keys, key=lambda key: not key[1])

    def _copy_map(self, first: int, count: int) -> None:
        assert self._inside is not None
        ours: Sequence[Sequence[int]] = self._outside.get_keyboard_mapping(first, count)
        theirs: Sequence[Sequence[int]] = self._inside.get_keyboard_mapping(first, count)
        for keycode, (wanted, present) in enumerate(zip(ours, theirs, strict=True), first):
            if _without_end(wanted) != _without_end(present):
                self._inside.change_keyboard_mapping(keycode, [tuple(wanted)])
        self._inside.sync()


class _HeldInput:
    """Presses and releases what is held in the X server in a window, with events like those of the outer server.

    XTEST inside would not do: a key that went down through the window goes up only through the window.
    """

    def __init__(self, window: Any, pointer: Any) -> None:
        children = window.query_tree().children
        if not children:
            raise OSError("the nested X server has not drawn its window, or has died")
        self.server_window = children[0]
        self._place = {
            "root_x": pointer.root_x,
            "root_y": pointer.root_y,
            "event_x": pointer.root_x,
            "event_y": pointer.root_y,
        }
        self._root = pointer.root
        self._mask: int = pointer.mask
        self._buttons = [button for button in BUTTONS if pointer.mask & X.Button1Mask << (button - 1)]

    def release(self, keys: Sequence[tuple[int, int]]) -> None:
        state = self._mask
        for button in self._buttons:
            self._send(event.ButtonRelease, button, state)
            state &= ~(X.Button1Mask << (button - 1))
        for keycode, modifier in reversed(keys):
            self._send(event.KeyRelease, keycode, state)
            state &= ~modifier

    def press(self, keys: Sequence[tuple[int, int]]) -> None:
        # The server corrects its modifiers by each event's state, which is that before the event.
        state = self._mask & X.LockMask
        self._send(event.MotionNotify, 0, state)
        for keycode, modifier in keys:
            self._send(event.KeyPress, keycode, state)
            state |= modifier
        for button in self._buttons:
            self._send(event.ButtonPress, button, state)
            state |= X.Button1Mask << (button - 1)

    def _send(self, kind: Any, detail: int, state: int) -> None:
        window = self.server_window
        message = kind(
            time=X.CurrentTime,
            root=self._root,
            window=window,
            child=X.NONE,
            same_screen=1,
            state=state,
            detail=detail,
            **self._place,
        )
        # With no mask it goes to the client that made the window.
        window.send_event(message, event_mask=0)


def _state_of(window: Any) -> tuple[object, bool] | None:
    """Return any client's window's title, and whether it is mapped; None if it has been closed since it was listed."""
    try:
        return window.get_wm_name(), window.get_attributes().map_state != X.IsUnmapped
    except error.XError:
        return None


def _without_end(keysyms: Sequence[int]) -> list[int]:
    """Return the keysyms without zeros at the end, which only fill the map's columns."""
    kept = list(keysyms)
    while kept and not kept[-1]:
        kept.pop()
    return kept
