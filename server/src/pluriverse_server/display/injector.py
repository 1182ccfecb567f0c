"""Presses keys and moves the pointer of an X server, through its XTEST extension, for agents and scraped programs."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from pluriverse_protocol.events import BUTTONS, KeyEvent, PointerEvent, RelativePointerEvent, ScreenEvent
from Xlib import X, error
from Xlib.display import Display

from pluriverse_server.x11.connection import (
    DisplayLost,
    Position,
    ReportingLoss,
    abort,
    closing_on_error,
    hang_up,
    open_display,
    position,
    reposition,
    send,
)
from pluriverse_server.x11.modifier_lock import MODIFIER, KeyboardLocks, Locks, ModifierLock

from .client_thread import ANSWER_DEADLINE_S, ClientThread, open_in_thread
from .keymap import Keymap, heeds_locks

log = logging.getLogger(__name__)

# What a Shift goes down for that only chooses a character.
NO_KEYSYM: Final = 0

# Of XTEST's movements, as their detail.
RELATIVE: Final = 1

# When an X server repeats a key that is held, and how often from then on.
REPEAT_DELAY_S: Final = 0.66
REPEAT_S: Final = 0.04

# ISO_Level3_Shift, Mode_switch, Num_Lock, and Shift_L to Hyper_R: they don't repeat, and what does goes on.
_MODIFIERS: Final = (0xFE03, 0xFF7E, 0xFF7F, *range(0xFFE1, 0xFFEF))


@dataclass(frozen=True, slots=True)
class KeptInjector:
    """What an injector knew at a moment."""

    at: Position
    held: Mapping[int, int]
    buttons: int
    keymap: tuple[Any, ...]
    locked: bool
    repeating: tuple[int, float | None] | None


class Injector:
    """Presses keys and moves the pointer, and knows what it holds. Blocking, for one thread at a time."""

    def __init__(self, display: str, xauthority: Path) -> None:
        self._display = display
        self._connection = open_display(display, xauthority)
        with closing_on_error(self._connection), ReportingLoss(self._display):
            self._connection.set_error_handler(_log_error)
            screen = self._connection.screen()
            self._right: int = screen.width_in_pixels - 1
            self._bottom: int = screen.height_in_pixels - 1
            self._locks = KeyboardLocks(self._connection)
            self._keymap = Keymap(self._connection, self._locks.remapped)
            self._lock = ModifierLock(self._connection)
        self._held: dict[int, int] = {}  # the keycode under which each keysym went down
        self._buttons = 0
        # Where the pointer was put last. A click there doesn't move it; and the two of a double one must not be far
        # apart in real time.
        self._at: tuple[int, int] | None = None
        # The keycode that went down last, and when it is due again.
        self._repeating: tuple[int, float | None] | None = None

    def apply(self, events: Sequence[ScreenEvent]) -> None:
        """Inject the events in order. The pointer is kept on the screen; a key that is down already stays so.

        A character is typed as it is, whatever is locked: the locks are off while its key goes down.
        """
        with ReportingLoss(self._display):
            # Programs move it, too.
            self._at = None
            for _ in self._inputs(events):
                pass
            send(self._connection)

    def apply_one_by_one(self, events: Sequence[ScreenEvent]) -> Iterator[None]:
        """Inject the events, and yield after each single input: a key or button that moves, or the pointer.

        Nobody else moves the pointer since it was last released.
        """
        with ReportingLoss(self._display):
            yield from self._sent(self._inputs(events))

    def repeat_held(self, now: float) -> None:
        """Press the key that went down last again if it is held and due, as a server would by the time ``now``."""
        if self._repeating is None:
            return
        keycode, due = self._repeating
        due = now + REPEAT_DELAY_S if due is None else due
        with ReportingLoss(self._display):
            while due <= now:
                for kind in (X.KeyRelease, X.KeyPress):
                    self._connection.xtest_fake_input(kind, keycode)
                due += REPEAT_S
            send(self._connection)
        self._repeating = keycode, due

    def repeat_keys(self, *, on: bool) -> None:
        """Let the server repeat keys that are held, as it does at first, or not."""
        with ReportingLoss(self._display):
            mode = X.AutoRepeatModeOn if on else X.AutoRepeatModeOff
            self._connection.change_keyboard_control(auto_repeat_mode=mode)
            send(self._connection)

    def separate_clicks(self) -> None:
        """Let no click that follows be one with a click before, however soon it comes."""
        with ReportingLoss(self._display):
            self._lock.toggle()
            send(self._connection)

    def release_all(self) -> None:
        """Release every key and button that this injector holds; raise DisplayLost if the X server is gone.

        What keeps clicks apart is as at first, too.
        """
        with ReportingLoss(self._display):
            for _ in self._releases():
                pass
            send(self._connection)

    def release_one_by_one(self) -> Iterator[None]:
        """Release every key and button that this injector holds, and yield after each."""
        with ReportingLoss(self._display):
            yield from self._sent(self._releases())

    @property
    def connection(self) -> Display:
        return self._connection

    def fileno(self) -> int:
        return self._connection.fileno()

    def keep(self) -> KeptInjector:
        """Return where this injector is; for ``go_back`` when the server has gone back, too."""
        with ReportingLoss(self._display):
            self._keymap.follow()
            at = position(self._connection)
        keymap = self._keymap.keep()
        return KeptInjector(at, dict(self._held), self._buttons, keymap, self._lock.locked, self._repeating)

    def go_back(self, kept: KeptInjector, descriptor: int) -> None:
        """Go on from there with the server that has the other end of ``descriptor``."""
        reposition(self._connection, descriptor, kept.at)
        self.adopt(kept)

    def adopt(self, kept: KeptInjector) -> None:
        """Take over from the injector of the server's that this was."""
        self._held, self._buttons, self._lock.locked = dict(kept.held), kept.buttons, kept.locked
        self._repeating = kept.repeating
        self._keymap.go_back(kept.keymap)

    def close(self) -> None:
        try:
            with contextlib.suppress(DisplayLost), ReportingLoss(self._display):
                self.release_all()
                # A server that finds the connection closed throws away what it hasn't read of it.
                self._connection.sync()
                self._connection.close()
        finally:
            hang_up(self._connection)

    def abort(self) -> None:
        abort(self._connection)

    def _sent(self, inputs: Iterator[None]) -> Iterator[None]:
        for _ in inputs:
            send(self._connection)
            yield
        send(self._connection)

    # Each yields after an input that is on its way, and has noted it by then.

    def _inputs(self, events: Sequence[ScreenEvent]) -> Iterator[None]:
        self._keymap.follow()
        # SDL 2 takes a movement that equals the last one, in the same millisecond, for that one: not by a detour.
        moved: tuple[int, int] | None = None
        for event in events:
            match event:
                case KeyEvent(keysym, down=True):
                    yield from self._press(keysym)
                case KeyEvent(keysym):
                    yield from self._release(keysym)
                case PointerEvent(x, y, buttonmask):
                    if self._at != (x, y):
                        self._at = x, y
                        yield from self._move(x, y)
                    yield from self._set_buttons(buttonmask)
                case RelativePointerEvent(dx, dy, buttonmask):
                    self._at = None
                    if dx or dy:
                        if moved == (dx, dy):
                            aside = (0, 1) if dx else (1, 0)
                            yield from self._fake(X.MotionNotify, RELATIVE, *aside)
                            dx, dy = dx - aside[0], dy - aside[1]
                        yield from self._fake(X.MotionNotify, RELATIVE, dx, dy)
                        moved = dx, dy
                    yield from self._set_buttons(buttonmask)

    def _releases(self) -> Iterator[None]:
        self._at = None
        self._lock.release()
        for keysym in reversed(list(self._held)):
            yield from self._release(keysym)
        yield from self._set_buttons(0)

    def _press(self, keysym: int) -> Iterator[None]:
        if keysym in self._held:
            return
        held = self._held.values()
        stroke = self._keymap.stroke(keysym, held)
        if stroke is None:
            log.warning("keysym %#x was dropped: every spare keycode is held down", keysym)
            return
        locks = self._locked() if heeds_locks(keysym) else None
        if locks is not None:
            self._locks.set(Locks(locks.modifiers & MODIFIER))
        shift = self._keymap.shift if stroke.shift and self._keymap.shift not in held else None
        if shift is not None:
            self._held[NO_KEYSYM] = shift
            yield from self._fake(X.KeyPress, shift)
        is_down = stroke.keycode in held
        self._held[keysym] = stroke.keycode
        if not is_down:
            yield from self._fake(X.KeyPress, stroke.keycode)
            if keysym not in _MODIFIERS:
                self._repeating = stroke.keycode, None
        if shift is not None:
            yield from self._release(NO_KEYSYM)
        if locks is not None:
            self._locks.set(locks)

    def _locked(self) -> Locks | None:
        asked = self._locks.ask()
        send(self._connection)
        locks, _ = self._locks.locks_of(asked)
        return locks if locks.modifiers & ~MODIFIER or locks.group else None

    def _release(self, keysym: int) -> Iterator[None]:
        keycode = self._held.pop(keysym, None)
        # "a" and "A" are one key.
        if keycode is not None and keycode not in self._held.values():
            if self._repeating is not None and self._repeating[0] == keycode:
                self._repeating = None
            yield from self._fake(X.KeyRelease, keycode)

    def _move(self, x: int, y: int) -> Iterator[None]:
        x, y = max(0, min(x, self._right)), max(0, min(y, self._bottom))
        yield from self._fake(X.MotionNotify, x=x, y=y)

    def _set_buttons(self, buttonmask: int) -> Iterator[None]:
        for index in range(BUTTONS):
            bit = 1 << index
            if (buttonmask ^ self._buttons) & bit:
                self._buttons ^= bit
                yield from self._fake(X.ButtonPress if buttonmask & bit else X.ButtonRelease, index + 1)

    def _fake(self, kind: int, detail: int = 0, x: int = 0, y: int = 0) -> Iterator[None]:
        self._connection.xtest_fake_input(kind, detail, x=x, y=y)
        yield


class AsyncInjector:
    """An Injector for the event loop. Its calls raise DisplayLost as well where the X server doesn't answer in time."""

    def __init__(self, thread: ClientThread[Injector]) -> None:
        self._thread = thread

    @classmethod
    async def open(
        cls,
        display: str,
        xauthority: Path,
        *,
        deadline_s: float = ANSWER_DEADLINE_S,
    ) -> Self:
        thread = await open_in_thread("injector", lambda: Injector(display, xauthority), display, deadline_s=deadline_s)
        return cls(thread)

    async def apply(self, events: Sequence[ScreenEvent]) -> None:
        await self._thread.run(lambda injector: injector.apply(events))

    async def release_all(self) -> None:
        await self._thread.run(lambda injector: injector.release_all())

    async def close(self) -> None:
        await self._thread.close()


def _log_error(problem: error.XError, request: object) -> None:
    log.warning("the X server refused a request of the injector: %s", problem)
