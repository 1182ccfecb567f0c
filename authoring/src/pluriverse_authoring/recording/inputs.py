"""All key and pointer events of a display, from viewers, browsers and agents: XInput 2 raw events, in a thread.

They don't depend on the focus or on another client's grab. Keys are unshifted keysyms, Shift is a key of its own; there
are no repeats. Positions are absolute, as VNC servers and injectors send them, or movements, as for games that grab the
pointer.
"""

from __future__ import annotations

import logging
import os
import select
import struct
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

from pluriverse_protocol.events import BUTTONS, KeyEvent, PointerEvent, RelativePointerEvent, ScreenEvent
from pluriverse_server.x11.connection import CONNECTION_ERRORS, ReportingLoss, closing_on_error, hang_up, open_display
from pluriverse_server.x11.raw_input import KEY_REPEAT, RAW_EVENT, select_raw_events
from Xlib import X, error
from Xlib.ext import ge, xinput

log = logging.getLogger(__name__)

_MASK: Final = (
    xinput.RawKeyPressMask
    | xinput.RawKeyReleaseMask
    | xinput.RawButtonPressMask
    | xinput.RawButtonReleaseMask
    | xinput.RawMotionMask
)


class Inputs:
    """Calls ``take`` with each event and the UNIX time of its arrival, from a thread of its own, until ``close``."""

    def __init__(
        self, display: str, xauthority: Path, take: Callable[[float, ScreenEvent], None], *, relative: bool = False
    ) -> None:
        """``relative``: the pointer's movements count, and not where it is."""
        self._take = take
        self._relative = relative
        self._connection = open_display(display, xauthority)
        with closing_on_error(self._connection), ReportingLoss(display):
            self._opcode = select_raw_events(self._connection, _MASK)
            place = self._connection.screen().root.query_pointer()
            self._x, self._y = place.root_x, place.root_y
        self._down: set[int] = set()
        self._buttons = 0
        self._stopping, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._run, name="inputs", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._wake >= 0:
            os.close(self._wake)
            self._wake = -1
            self._thread.join()
            os.close(self._stopping)
            hang_up(self._connection)

    def _run(self) -> None:
        self._take(time.time(), self._pointer())
        try:
            while True:
                # select doesn't see what python-xlib has read already.
                while self._connection.pending_events():
                    for event in self._events(self._connection.next_event()):
                        self._take(time.time(), event)
                if self._stopping in select.select([self._connection.fileno(), self._stopping], [], [])[0]:
                    return
        except (*CONNECTION_ERRORS, error.XError) as problem:
            log.warning("no more input is recorded: the X server is gone: %s", problem)

    def _events(self, event: Any) -> Generator[ScreenEvent]:
        if event.type == X.MappingNotify:
            self._connection.refresh_keyboard_mapping(event)
        elif event.type == ge.GenericEventCode and event.extension == self._opcode:
            _, _, detail, _, words, flags = RAW_EVENT.unpack_from(event.data)
            match event.evtype:
                case xinput.RawKeyPress | xinput.RawKeyRelease as kind if not flags & KEY_REPEAT:
                    yield from self._key(detail, down=kind == xinput.RawKeyPress)
                case xinput.RawButtonPress | xinput.RawButtonRelease as kind if detail <= BUTTONS:
                    bit = 1 << detail - 1
                    self._buttons = self._buttons | bit if kind == xinput.RawButtonPress else self._buttons & ~bit
                    yield self._pointer()
                case xinput.RawMotion:
                    yield from self._motion(event.data[RAW_EVENT.size :], words)
                case _:
                    pass

    def _key(self, keycode: int, *, down: bool) -> Generator[ScreenEvent]:
        keysym = self._connection.keycode_to_keysym(keycode, 0)
        if keysym and down != (keycode in self._down):
            self._down ^= {keycode}
            yield KeyEvent(keysym, down)

    def _motion(self, data: bytes, words: int) -> Generator[ScreenEvent]:
        mask = int.from_bytes(data[: 4 * words], "little")
        # Fixed point, one for each bit of the mask: the integer, then 32 bits of fraction.
        values = iter(struct.iter_unpack("=iI", data[4 * words : 4 * words + 8 * mask.bit_count()]))
        before = self._x, self._y
        if self._relative:
            dx, dy = (next(values)[0] if mask & bit else 0 for bit in (1, 2))
            yield RelativePointerEvent(dx, dy, self._buttons)
            return
        if mask & 1:
            self._x = max(0, next(values)[0])
        if mask & 2:
            self._y = max(0, next(values)[0])
        if (self._x, self._y) != before:
            yield self._pointer()

    def _pointer(self) -> ScreenEvent:
        if self._relative:
            return RelativePointerEvent(0, 0, self._buttons)
        return PointerEvent(self._x, self._y, self._buttons)
