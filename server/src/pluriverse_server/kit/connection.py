"""The connection to the X server that a program draws on."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from Xlib import X
from Xlib.error import XError as Refusal

from pluriverse_server.x11.connection import DisplayLost, ReportingLoss, hang_up, open_display

# Errors are raised at the next check; a program that makes more than these between two checks has shown enough.
KEPT_ERRORS: Final = 16

# There is no X server to draw on, or it can't do what a remote's display can; the message names it.
NoDisplay = DisplayLost


class XError(Exception):
    """The X server refused a request."""


class Connection:
    """A connection to the X server. Not for use by several threads."""

    def __init__(self) -> None:
        """Connect to the server that ``DISPLAY`` names.

        Raises:
            NoDisplay: no server answers.
        """
        name = os.environ.get("DISPLAY", "")
        try:
            self.display = open_display()
        except DisplayLost as error:
            raise NoDisplay(
                f"no X server answers at DISPLAY={name!r}; start one (Xvfb :7 -screen 0 1024x768x24 &), set "
                f"DISPLAY=:7 and, where it asks for a cookie, XAUTHORITY"
            ) from error
        self.root = self.display.screen().root
        self.closed = False
        self.used = ReportingLoss(name)  # a context for all that is done with it
        self._errors: deque[str] = deque(maxlen=KEPT_ERRORS)
        self.display.set_error_handler(self._note)

    def fileno(self) -> int:
        """Return the connection's file descriptor."""
        return self.display.fileno()

    def events(self) -> Iterator[Any]:
        """Yield the events that have come, without waiting; changes of the keyboard map are taken in before."""
        while self.display.pending_events():
            event: Any = self.display.next_event()
            if event.type == X.MappingNotify:
                self.display.refresh_keyboard_mapping(event)
            yield event

    def check(self) -> None:
        """Wait until the server has carried out every request.

        Raises:
            XError: it refused one since the last check.
        """
        self.display.sync()
        if self._errors:
            message = "; ".join(self._errors)
            self._errors.clear()
            raise XError(message)

    def close(self) -> None:
        """Close the connection; the server frees what was made on it. May be called repeatedly."""
        if not self.closed:
            self.closed = True
            hang_up(self.display)

    def _note(self, error: Refusal, request: object) -> None:
        self._errors.append(f"X error {error.code} at request {error.major_opcode}.{error.minor_opcode}")
