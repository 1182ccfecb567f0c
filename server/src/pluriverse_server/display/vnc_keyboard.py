"""The keyboard map for VNC clients: how it types each keysym, and spare keycodes for those that it lacks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from pluriverse_protocol.events import BUTTONS, PointerEvent
from Xlib import X

from pluriverse_server.tasks import start_task
from pluriverse_server.vnc_proxy.client_input import Way
from pluriverse_server.x11.connection import (
    DisplayLost,
    ReportingLoss,
    abort,
    closing_on_error,
    hang_up,
    open_display,
)
from pluriverse_server.x11.modifier_lock import MODIFIER, KeyboardLocks, Locks

from .client_thread import ClientThread, open_in_thread
from .keymap import Keymap, Stroke, is_character

log = logging.getLogger(__name__)

# A program that hasn't read a press yet would take it for what its keycode means next.
SETTLE_S: Final = 0.1

# Toolkits read the map on a connection of their own, and may see a press before they see what it means: Chromium typed
# one character of ten wrong on a busy machine when this was 0.
NOTICE_S: Final = 0.05


# Left, middle and right: those of a pointer event's mask by which it is seen that it has arrived. A wheel's pass.
SHOWN_BUTTONS: Final = 7

# A key that the VNC server was sent is down within milliseconds, unless the machine is busy. What follows too early is
# dropped by X0tigervnc if it needs Shift. Below the deadline of a ClientThread's call.
ARRIVAL_S: Final = 1.5
ARRIVAL_LOOK_S: Final = 0.001


class SpareKeys:
    """Puts keysyms on the spare keycodes of an X server's map. Blocking, for one thread at a time."""

    def __init__(self, display: str, xauthority: Path) -> None:
        self._display = display
        self._connection = open_display(display, xauthority)
        with closing_on_error(self._connection), ReportingLoss(display):
            self._locks = KeyboardLocks(self._connection)
            self.keymap = Keymap(self._connection, self._locks.remapped)
        self._pressed_at: dict[int, float] = {}  # of each keycode that was given, steady seconds

    def add(self, keysym: int, held: Collection[int]) -> bool:
        """Put a keysym on the map, but not in the place of one that is held; return whether it is there."""
        with ReportingLoss(self._display):
            self.keymap.follow()
            new = self.keymap.known(keysym) is None
            kept = {stroke.keycode for each in held if (stroke := self.keymap.known(each)) is not None}
            stroke = self._stroke(keysym, kept)
            if stroke is None:
                return False
            self._unlock()
            self._connection.sync()
            if new:
                time.sleep(NOTICE_S)
            self._pressed_at[stroke.keycode] = time.monotonic()
            return True

    def _unlock(self) -> None:
        """Turn Caps Lock off, which toolkits apply to it. TigerVNC does so itself for plain letters and the keypad."""
        locks, _ = self._locks.locks_of(self._locks.ask())
        self._locks.set(Locks(locks.modifiers & MODIFIER))

    def wait(self, keysym: int, down: bool) -> None:
        """Return once a keysym's key is down, or isn't, or after a while; raise DisplayLost if the X server is gone.

        A program that has halted the keyboard with it leaves it as it was.
        """
        stroke = self.keymap.known(keysym)
        if stroke is None:
            return

        def arrived() -> bool:
            return bool(self._connection.query_keymap()[stroke.keycode // 8] >> stroke.keycode % 8 & 1) == down

        with ReportingLoss(self._display):
            _wait_for(arrived)

    def click(self, event: PointerEvent, changed: int) -> None:
        """Press and release the buttons of ``changed`` that the VNC server doesn't, once it has done the others."""
        screen = self._connection.screen()
        x, y = min(event.x, screen.width_in_pixels - 1), min(event.y, screen.height_in_pixels - 1)

        def arrived() -> bool:
            pointer = screen.root.query_pointer()
            buttons = pointer.mask // X.Button1Mask & SHOWN_BUTTONS
            return (pointer.root_x, pointer.root_y, buttons) == (x, y, event.buttonmask & SHOWN_BUTTONS)

        with ReportingLoss(self._display):
            _wait_for(arrived)
            for index in range(BUTTONS):
                if changed >> index & 1:
                    kind = X.ButtonPress if event.buttonmask >> index & 1 else X.ButtonRelease
                    self._connection.xtest_fake_input(kind, index + 1)
            self._connection.sync()

    def restore(self) -> None:
        """Take off the map what was added, once it has settled; raise DisplayLost if the X server is gone."""
        with ReportingLoss(self._display):
            if self._pressed_at:
                time.sleep(SETTLE_S)
            self.keymap.follow()
            self.keymap.restore()
            self._connection.sync()

    def close(self) -> None:
        hang_up(self._connection)

    def abort(self) -> None:
        abort(self._connection)

    def _stroke(self, keysym: int, kept: Collection[int]) -> Stroke | None:
        """Return what types it; wait where every keycode that isn't held has just been pressed."""
        while True:
            settled = time.monotonic() - SETTLE_S
            self._pressed_at = {keycode: at for keycode, at in self._pressed_at.items() if at > settled}
            stroke = self.keymap.stroke(keysym, {*kept, *self._pressed_at})
            if stroke is not None or not self._pressed_at:
                return stroke
            time.sleep(min(self._pressed_at.values()) - settled)


class VncKeyboard:
    """The keyboard of a screen, for the VNC proxy's event loop; implements its ``Keyboard``."""

    def __init__(self, display: str, xauthority: Path, thread: ClientThread[SpareKeys]) -> None:
        self._display = display
        self._xauthority = xauthority
        self._thread: ClientThread[SpareKeys] | None = thread
        keymap = thread.client.keymap
        self._ways = {keysym: _way(keymap, keysym) for keysym in keymap.keysyms}
        self._held = Counter[int]()
        self._pressing = asyncio.Lock()
        self._resting: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, display: str, xauthority: Path) -> VncKeyboard:
        return cls(display, xauthority, await _open(display, xauthority))

    def way(self, keysym: int) -> Way:
        return self._ways.get(keysym, Way.MISSING)

    async def press(self, keysym: int) -> bool:
        """Put a missing keysym on the map until its ``release``; return False if that can't be done."""
        self._held[keysym] += 1
        try:
            # One at a time, so that none spends its deadline on waiting for others.
            async with self._pressing:
                # A server that didn't answer once is asked again: it may only have been paused.
                thread = self._thread = self._thread or await _open(self._display, self._xauthority)
                held = frozenset(self._held)
                added = await thread.run(lambda keys: keys.add(keysym, held))
        except DisplayLost as error:
            log.debug("keysym %#x was not put on the keyboard map: %s", keysym, error)
            self._thread = None
            added = False
        except BaseException:
            self.release(keysym)
            raise
        if not added:
            self.release(keysym)
        return added

    async def arrived(self, keysym: int, down: bool) -> None:
        if self._thread is not None:
            with contextlib.suppress(DisplayLost):
                await self._thread.run(lambda keys: keys.wait(keysym, down))

    async def click(self, event: PointerEvent, changed: int) -> None:
        """Press and release the buttons of ``changed``, once all else of the event has arrived; see ``SpareKeys``."""
        try:
            async with self._pressing:
                thread = self._thread = self._thread or await _open(self._display, self._xauthority)
                await thread.run(lambda keys: keys.click(event, changed))
        except DisplayLost as error:
            log.debug("the buttons %#x were not pressed: %s", changed, error)
            self._thread = None

    def release(self, keysym: int) -> None:
        self._held -= Counter((keysym,))

    def rest(self) -> None:
        if self._thread is not None:
            self._resting = start_task(self._restore(self._thread), "keyboard's rest", lambda: None)

    async def close(self) -> None:
        if self._thread is not None:
            await self._thread.close()

    async def _restore(self, thread: ClientThread[SpareKeys]) -> None:
        with contextlib.suppress(DisplayLost):
            await thread.run(lambda keys: keys.restore())


def _wait_for(arrived: Callable[[], bool]) -> None:
    deadline = time.monotonic() + ARRIVAL_S
    while not arrived() and time.monotonic() < deadline:
        time.sleep(ARRIVAL_LOOK_S)


async def _open(display: str, xauthority: Path) -> ClientThread[SpareKeys]:
    return await open_in_thread("VNC keyboard", lambda: SpareKeys(display, xauthority), display)


def _way(keymap: Keymap, keysym: int) -> Way:
    stroke = keymap.known(keysym)
    assert stroke is not None
    if stroke.shift:
        return Way.WITH_SHIFT
    return Way.WITHOUT_SHIFT if is_character(keysym) and keymap.shifts(stroke.keycode) else Way.ANYHOW
