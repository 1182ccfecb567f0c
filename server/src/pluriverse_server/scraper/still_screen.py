"""The screen of a program that stands still: its picture, and the server behind it."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from pluriverse_protocol.events import Event, PointerEvent, ScreenEvent
from Xlib import X

from pluriverse_server.display.injector import Injector
from pluriverse_server.lockstep import take_changes, to_rgb
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.grab import Grabber
from pluriverse_server.x11.connection import DisplayLost, ReportingLoss

# struct ucred of <sys/socket.h>: a process, its user and its group.
_CREDENTIALS: Final = struct.Struct("iII")


class StillScreen:
    """Presses keys at once, and sees what is drawn. Held keys repeat by the injector's time, not the server's."""

    def __init__(
        self,
        display: str,
        xauthority: Path,
        picture: Sequence[int],
        hidden: Sequence[int] | None = None,
        memory: Pixels | None = None,
    ) -> None:
        """``picture`` is the part to see: x, y, width and height; in ``hidden`` is what goes by real time.

        ``memory``: where the X server keeps its screen, if it lets us look.
        """
        self._display = display
        left, top, width, height = picture
        # Black, as the X server has it, and as agents see it.
        self._drawn = np.zeros((height, width, 4), np.uint8)
        self._pixels = np.zeros((height, width, 3), np.uint8)
        self.may_differ = True
        """Whether it may since it was last seen."""
        self._hidden = self._pixels[:0]
        if hidden is not None:
            x, y, across, down = hidden
            rows = slice(max(y - top, 0), max(y + down - top, 0))
            self._hidden = self._pixels[rows, max(x - left, 0) : max(x + across - left, 0)]
        self.injector = Injector(display, xauthority)
        self._connection = self.injector.connection
        self._grabber = Grabber(display, [picture]) if memory is None else None
        self._memory = None if memory is None else memory[top : top + height, left : left + width]
        if memory is not None:
            # It would be in the pixels.
            self._connection.xfixes_query_version()
            self._connection.screen().root.xfixes_hide_cursor()
        self._repeat(X.AutoRepeatModeOff)

    def begin(self) -> None:
        """Put the pointer where it is on a new server: keys go to the window below it."""
        screen = self._connection.screen()
        self.injector.apply([PointerEvent(screen.width_in_pixels // 2, screen.height_in_pixels // 2, 0)])

    @property
    def server_pid(self) -> int:
        credentials = self._connection.display.socket.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
        )
        return _CREDENTIALS.unpack(credentials)[0]

    def apply(self, events: Sequence[Event]) -> None:
        self.injector.apply([event for event in events if isinstance(event, ScreenEvent)])

    def see(self) -> tuple[Pixels, Sequence[tuple[int, int]]]:
        """Return the picture, valid until the next call, and in runs its rows that may differ since the last.

        It is RGB, of shape (height, width, 3). A run is its first row, and how many they are.
        """
        if not self.may_differ:
            return self._pixels, ()
        self.may_differ = False
        if self._memory is not None:
            runs = take_changes(self._memory, self._drawn)
        else:
            assert self._grabber is not None
            runs = take_changes(self._grabber.grab()[0], self._drawn)
        for first, count in runs:
            rows = slice(first, first + count)
            to_rgb(self._drawn[rows], self._pixels[rows])
        self._hidden[:] = 0
        return self._pixels, runs

    def close(self) -> None:
        """Release what is held, let keys repeat again, and disconnect. May be called when the X server is gone."""
        if self._grabber is not None:
            self._grabber.close()
        with contextlib.suppress(DisplayLost):
            self._repeat(X.AutoRepeatModeOn)
        self.injector.close()

    def _repeat(self, mode: int) -> None:
        with ReportingLoss(self._display):
            self._connection.change_keyboard_control(auto_repeat_mode=mode)
            self._connection.sync()
