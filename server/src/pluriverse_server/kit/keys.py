"""Every key that goes down or up on the display, regardless of focus; and those that a frame counts as held."""

from __future__ import annotations

import select
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from Xlib.ext import ge, xinput

from pluriverse_server.x11.raw_input import KEY_REPEAT, RAW_EVENT, select_raw_events

from .window import Window

# The protocol's action probe; no keyboard has it, so the remote maps it to a spare keycode.
PROBE_KEYSYM: Final = 0xBEEF1

KEYCODES: Final = range(8, 256)


@dataclass(frozen=True, slots=True)
class KeyEdge:
    """A key went down or up; ``at`` is the clock (UNIX seconds) when this process saw it."""

    keysym: int
    down: bool
    at: float


class Keyboard:
    """The key edges of the display, in the order that the server saw them; held keys don't repeat.

    Reads XInput 2 raw events, which neither the input focus nor another client's grab takes away. The keysym is the
    key's unshifted one: ``c`` and ``C`` are the same key. It reads the window's connection and owns nothing.
    """

    def __init__(self, window: Window) -> None:
        """Listen from now on.

        Raises:
            NoDisplay: the X server is gone, or lacks XInput 2.2.
        """
        self._connection = window.connection
        self._display = window.connection.display
        with self._connection.used:
            self._extension = select_raw_events(self._display, xinput.RawKeyPressMask | xinput.RawKeyReleaseMask)
            # Keys that were down before this program started; the agent believes they are held, and it's right.
            bits = self._display.query_keymap()
            self._connection.check()
        self._down = {keycode for keycode in KEYCODES if bits[keycode // 8] >> keycode % 8 & 1}
        self._poll = select.poll()
        self._poll.register(self, select.POLLIN)
        self.held_at_start = frozenset(self._keysym(keycode) for keycode in self._down)

    def fileno(self) -> int:
        """Return the X connection, for ``select``; ask ``waiting`` before sleeping on it."""
        return self._connection.fileno()

    @property
    def waiting(self) -> bool:
        """Whether events were read from the connection already, by a drawing call: ``select`` wouldn't report them."""
        return bool(self._display.display.event_queue)

    def events(self) -> list[KeyEdge]:
        """Return what happened since the last call, oldest first, without waiting.

        Raises:
            NoDisplay: the X server is gone.
        """
        edges: list[KeyEdge] = []
        with self._connection.used:
            # What python-xlib does to find nothing costs more than a frame's drawing.
            if not self.waiting and not self._poll.poll(0):
                return edges
            for event in self._connection.events():
                if event.type == ge.GenericEventCode and event.extension == self._extension:
                    edges += self._edges(event)
        return edges

    def _edges(self, event: Any) -> Iterable[KeyEdge]:
        _, _, keycode, _, _, flags = RAW_EVENT.unpack_from(event.data)
        down = event.evtype == xinput.RawKeyPress
        if not flags & KEY_REPEAT and down != (keycode in self._down):
            self._down ^= {keycode}
            yield KeyEdge(self._keysym(keycode), down, time.time())

    def _keysym(self, keycode: int) -> int:
        return self._display.keycode_to_keysym(keycode, 0)


class KeyLatch:
    """The keys held; one that was pressed and released between two frames counts as held in the second."""

    def __init__(self, held: Iterable[int] = ()) -> None:
        self._held = set(held)
        self._pressed: set[int] = set()

    @property
    def held(self) -> frozenset[int]:
        """The keysyms that are down at this moment."""
        return frozenset(self._held)

    def copy(self) -> KeyLatch:
        """Return another one in the same state."""
        latch = KeyLatch(self._held)
        latch._pressed |= self._pressed
        return latch

    def apply(self, keysym: int, *, down: bool) -> None:
        """Note that a key went down or up."""
        if down:
            self._held.add(keysym)
            self._pressed.add(keysym)
        else:
            self._held.discard(keysym)

    def take(self) -> frozenset[int]:
        """Return the keysyms that count as held in this frame: down now, or pressed since the last ``take``."""
        keys = frozenset(self._held | self._pressed)
        self._pressed.clear()
        return keys

    def forget_presses(self) -> None:
        """Forget presses that are over; a key that is still down counts."""
        self._pressed.clear()
