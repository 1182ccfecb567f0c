"""A window that covers an X screen, has the keyboard, and tells what reaches it: a program to test screens with."""

import select
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from pluriverse_protocol.events import BUTTONS
from pluriverse_server.x11.connection import open_display
from Xlib import XK, X
from Xlib.protocol import rq

from .waiting import until

_T = TypeVar("_T")

SILENCE_S: Final = 60.0

KEYS_AND_BUTTONS: Final = X.KeyPressMask | X.KeyReleaseMask | X.ButtonPressMask | X.ButtonReleaseMask
EVENTS: Final = X.ExposureMask | KEYS_AND_BUTTONS | X.PointerMotionMask | X.FocusChangeMask

# What a window is told of each button that is clicked, one after the other.
CLICKS: Final = [(button, down) for button in range(1, BUTTONS + 1) for down in (True, False)]


class Window:
    """Black at first. Takes the cookie from ``xauthority``."""

    def __init__(self, display: str, xauthority: Path) -> None:
        self.connection = open_display(display, xauthority)
        screen = self.connection.screen()
        self._window: Any = screen.root.create_window(
            0,
            0,
            screen.width_in_pixels,
            screen.height_in_pixels,
            0,
            screen.root_depth,
            background_pixel=0,
            override_redirect=True,
            event_mask=EVENTS,
        )
        self._window.map()
        self.event(X.Expose)
        self._window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self.event(X.FocusIn)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.display.socket.close()

    def fill(self, x: int, y: int, width: int, height: int, rgb: Sequence[int]) -> None:
        red, green, blue = rgb
        context = self._window.create_gc(foreground=red << 16 | green << 8 | blue)
        self._window.fill_rectangle(context, x, y, width, height)
        context.free()
        self.connection.sync()

    def event(self, *kinds: int, timeout_s: float = SILENCE_S) -> Any:
        """The next event of one of these kinds; others before it are dropped."""
        deadline = time.monotonic() + timeout_s
        while True:
            while self.connection.pending_events():
                event: rq.Event = self.connection.next_event()
                if event.type == X.MappingNotify:
                    self.connection.refresh_keyboard_mapping(event)
                if event.type in kinds:
                    return event
            if not select.select([self.connection.fileno()], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"no event of kinds {kinds} within {timeout_s} s")

    def typed(self) -> int:
        """The keysym that the next key press means, with Shift as it was; presses of Shift itself are passed over."""
        while True:
            event = self.event(X.KeyPress)
            plain, shifted = (self.connection.keycode_to_keysym(event.detail, level) for level in (0, 1))
            keysym = shifted if event.state & X.ShiftMask and shifted else plain
            if keysym not in (XK.XK_Shift_L, XK.XK_Shift_R):
                return keysym

    def clicked(self) -> tuple[int, bool]:
        """The next button that changes, and whether it is down."""
        event = self.event(X.ButtonPress, X.ButtonRelease)
        return event.detail, event.type == X.ButtonPress

    def held(self) -> set[int]:
        keymap = bytes(self.connection.query_keymap())
        return {8 * index + bit for index, octet in enumerate(keymap) for bit in range(8) if octet >> bit & 1}

    def wait_for_held(self, count: int) -> set[int]:
        """The keycodes that are down, as soon as they are so many: X serves its clients in any order."""
        return until(self.held, lambda held: len(held) == count)

    def wait_for_pointer(self, x: int, y: int) -> None:
        until(self.pointer, lambda place: place == (x, y))

    def pointer(self) -> tuple[int, int]:
        answer = self.connection.screen().root.query_pointer()
        return answer.root_x, answer.root_y
