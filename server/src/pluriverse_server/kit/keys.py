"""Every key that goes down or up on the display, whoever has the input focus."""

from __future__ import annotations

import ctypes
import time
from ctypes import byref, c_int
from dataclasses import dataclass
from typing import Final

from . import xstructures as x
from .window import Window
from .xlib import NoDisplay

# The protocol's action probe; no keyboard has it, so the remote maps it to a spare keycode.
PROBE_KEYSYM: Final = 0xBEEF1

# XI 2.2 hands raw events to everyone; 2.0 kept them from all but a client that had grabbed the keyboard.
XI_VERSION: Final = (2, 2)

KEYCODES: Final = range(8, 256)


@dataclass(frozen=True, slots=True)
class KeyEdge:
    """A key went down or up; ``at`` is the clock (UNIX seconds) when this process saw it."""

    keysym: int
    down: bool
    at: float


class Keyboard:
    """The key edges of the display, in the order that the server saw them; held keys don't repeat.

    Reads XInput 2 raw events, which neither the input focus nor another client's grab takes away: there is no focus to
    lose. The keysym is the key's unshifted one: ``c`` and ``C`` are the same key. It reads the window's connection and
    owns nothing.
    """

    def __init__(self, window: Window) -> None:
        """Listen from now on.

        Raises:
            NoDisplay: the X server lacks XInput 2.2.
        """
        self._connection = window.connection
        self._opcode = self._require_xinput()
        self._keysyms: dict[int, int] = {}
        self._event = x.XEvent()
        self._select()
        # Keys that were down before this program started; the agent believes they are held, and it's right.
        self._down = self._keys_down()
        self.held_at_start = frozenset(map(self._keysym, self._down))

    def fileno(self) -> int:
        """The X connection, for ``select``; ask ``waiting`` before sleeping on it."""
        return self._connection.fileno()

    @property
    def waiting(self) -> bool:
        """Whether events were read from the connection already, by a drawing call: ``select`` wouldn't report them."""
        return self._connection.x11.XEventsQueued(self._connection.display, x.QUEUED_ALREADY) > 0

    def events(self) -> list[KeyEdge]:
        """What happened since the last call, oldest first, without waiting."""
        x11, display = self._connection.x11, self._connection.display
        edges: list[KeyEdge] = []
        while x11.XPending(display):
            x11.XNextEvent(display, byref(self._event))
            if self._event.type == x.MAPPING_NOTIFY:
                x11.XRefreshKeyboardMapping(byref(self._event))
                self._keysyms.clear()
            elif self._event.type == x.GENERIC_EVENT and self._event.cookie.extension == self._opcode:
                edge = self._read_raw()
                if edge is not None:
                    edges.append(edge)
        return edges

    def _read_raw(self) -> KeyEdge | None:
        x11, display, cookie = self._connection.x11, self._connection.display, self._event.cookie
        if not x11.XGetEventData(display, byref(cookie)):
            return None
        try:
            raw = x.XIRawEvent.from_address(cookie.data)
            keycode, down, flags = raw.detail, raw.evtype == x.XI_RAW_KEY_PRESS, raw.flags
        finally:
            x11.XFreeEventData(display, byref(cookie))
        if flags & x.XI_KEY_REPEAT or down == (keycode in self._down):
            return None
        if down:
            self._down.add(keycode)
        else:
            self._down.discard(keycode)
        return KeyEdge(self._keysym(keycode), down, time.time())

    def _keysym(self, keycode: int) -> int:
        keysym = self._keysyms.get(keycode)
        if keysym is None:
            keysym = self._connection.x11.XkbKeycodeToKeysym(self._connection.display, keycode, 0, 0)
            self._keysyms[keycode] = keysym
        return keysym

    def _keys_down(self) -> set[int]:
        bits = (ctypes.c_char * 32)()
        self._connection.x11.XQueryKeymap(self._connection.display, bits)
        return {keycode for keycode in KEYCODES if bits.raw[keycode // 8] >> keycode % 8 & 1}

    def _require_xinput(self) -> int:
        opcode, first_event, first_error = c_int(), c_int(), c_int()
        major, minor = c_int(XI_VERSION[0]), c_int(XI_VERSION[1])
        x11, display = self._connection.x11, self._connection.display
        present = x11.XQueryExtension(
            display, b"XInputExtension", byref(opcode), byref(first_event), byref(first_error)
        )
        # 0 is Success; the server answers with the lower of its version and ours.
        if not present or self._connection.xi.XIQueryVersion(display, byref(major), byref(minor)) != 0:
            raise NoDisplay("the X server lacks XInput 2.2, without which keys can be lost; use Xvfb or Xtigervnc")
        if (major.value, minor.value) < XI_VERSION:
            raise NoDisplay(
                f"the X server has XInput {major.value}.{minor.value}, needed is 2.2; use Xvfb or Xtigervnc"
            )
        return opcode.value

    def _select(self) -> None:
        wanted = 1 << x.XI_RAW_KEY_PRESS | 1 << x.XI_RAW_KEY_RELEASE
        mask = x.XIEventMask(x.XI_ALL_MASTER_DEVICES, 4, wanted.to_bytes(4, "little"))
        self._connection.xi.XISelectEvents(self._connection.display, self._connection.root, byref(mask), 1)
        self._connection.check()
