"""Brings an X server back to an earlier state: takes away what agents and programs have left there.

Not what a client alone can end: its grabs and windows, and a server that it halts, are there until its connection ends.
Nor DPMS, which neither Xvfb nor Xtigervnc has, and the VNC servers' clipboard, which is always empty (``vnc``).
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Final, Self

from pluriverse_protocol.child_process import child_environment
from Xlib import X, error
from Xlib.ext import randr, xfixes
from Xlib.protocol import request

from pluriverse_server.x11.connection import DisplayLost, ReportingLoss, abort, closing_on_error, hang_up, open_display
from pluriverse_server.x11.held_input import HeldInput
from pluriverse_server.x11.keyboard_controls import KeyboardControls
from pluriverse_server.x11.modifier_lock import KeyboardLocks

from .client_thread import ClientThread, open_in_thread

log = logging.getLogger(__name__)

SELECTIONS: Final = ("PRIMARY", "SECONDARY", "CLIPBOARD")

# The parts of the state, beside selections and the root window's properties, which go by their atoms.
_MODIFIERS, _KEYS, _BUTTONS, _SIZE = "modifiers", "keys", "buttons", "size"
_CONTROLS, _BELL, _POINTER, _SAVER = "controls", "bell", "pointer", "screen saver"
# They are compared each time.
_SETTINGS: Final = frozenset((_CONTROLS, _BELL, _POINTER, _SAVER))

# Which rules, model, layout, variant and options the keyboard map was made of.
_RULES: Final = "_XKB_RULES_NAMES"
_RULE_OPTIONS: Final = ("-rules", "-model", "-layout", "-variant", "-option")

# In words of four bytes; more than the root window's properties have.
_LONGEST_PROPERTY: Final = 1 << 20

# No key of any keyboard; it is on no map.
_NO_KEY: Final = 255

# What a pointer's mask has of the buttons; for how long they may be on their way up, and how often that is looked at.
_ANY_BUTTON: Final = X.Button1Mask | X.Button2Mask | X.Button3Mask | X.Button4Mask | X.Button5Mask
BUTTONS_S: Final = 0.5
LOOK_S: Final = 0.002


class InitialState:
    """The state that comes back, and the connection that it comes by. Blocking, for one thread at a time."""

    def __init__(self, display: str, xauthority: Path) -> None:
        """Take the state of the server as it is now for its first one."""
        self._display = display
        self._xauthority = xauthority
        self._connection: Any = open_display(display, xauthority)
        with closing_on_error(self._connection), ReportingLoss(display):
            self._connection.set_error_handler(_log_error)
            self._root: Any = self._connection.screen().root
            self._locks = KeyboardLocks(self._connection)
            self._controls = KeyboardControls(self._connection, self._locks.opcode)
            self._held = HeldInput(self._connection)
            self._selections = {self._connection.get_atom(name) for name in SELECTIONS}
            self._rules: int = self._connection.get_atom(_RULES)
            held, locks, settings = self._ask()
            self._place = self._held.place_of(held)
            self._first_locks, _ = self._locks.locks_of(locks)
            self._press_first()
            self._listen()
            parts = (_MODIFIERS, _KEYS, _BUTTONS, _SIZE, *self._selections, *self._root.list_properties())
            self._first: dict[Hashable, Any] = {part: self._read(part) for part in parts} | _values_of(settings)
            # The same, but for what the program that is there has made of it at its start.
            self._wanted = dict(self._first)
            self._changed: set[Hashable] = set()

    def wait_for_buttons(self) -> None:
        """Return once no button is held, or one is for BUTTONS_S."""
        until = time.monotonic() + BUTTONS_S
        with ReportingLoss(self._display):
            while self._root.query_pointer().mask & _ANY_BUTTON and time.monotonic() < until:
                time.sleep(LOOK_S)

    def restore_input(self) -> None:
        """Let go of everything that is held, locked or latched, and put the pointer back."""
        with ReportingLoss(self._display):
            held, locks, _ = self._ask()
            if self._restore_input(held, locks):
                self._connection.sync()

    def restore(self) -> None:
        """Bring everything back as it was first, or as it was at the last ``keep``."""
        with ReportingLoss(self._display):
            held, locks, settings = self._ask()
            wrote = self._restore_input(held, locks)
            wrote |= self._restore_settings(_values_of(settings))
            self._hear()
            # The map first, which is rebuilt if its rules differ.
            changed = set(self._changed)
            self._changed.clear()
            if self._rules in changed and self._read(self._rules) != self._wanted.get(self._rules):
                self._load_keyboard(self._wanted.get(self._rules))
                changed |= {_MODIFIERS, _KEYS}
            for part in changed:
                now, wanted = self._read(part), self._wanted.get(part)
                if now != wanted:
                    self._write(part, wanted, now)
            if wrote or changed:
                self._connection.sync()

    def restore_screen(self) -> None:
        """Bring everything back as it was first, for a program that starts; none other may be there."""
        with ReportingLoss(self._display):
            others = {part for part in self._wanted if self._wanted[part] != self._first.get(part)}
            self._changed |= others - _SETTINGS
            self._wanted = dict(self._first)
            # The focus stays nowhere where its window has gone, and what is painted on the root window stays as well.
            self._connection.set_input_focus(X.PointerRoot, X.RevertToPointerRoot, X.CurrentTime)
            self._root.change_attributes(background_pixmap=X.NONE, cursor=X.NONE)
            self._root.clear_area()
        self.restore()

    def keep(self) -> None:
        """Have ``restore`` bring back what is there now, but for input: the program that goes on has made it so."""
        with ReportingLoss(self._display):
            _, _, settings = self._ask()
            self._wanted |= _values_of(settings)
            self._hear()
            self._wanted |= {part: self._read(part) for part in self._changed}
            self._changed.clear()

    def abort(self) -> None:
        """Cut the connection: what is blocked in it, on another thread, raises DisplayLost."""
        abort(self._connection)

    def close(self) -> None:
        hang_up(self._connection)

    # ── what is there ────────────────────────────────────────────────────────────────────────────────────────────────

    def _press_first(self) -> None:
        """Have a key and the pointer used once: a server does something more at the first of each."""
        for kind in (X.KeyPress, X.KeyRelease):
            self._connection.xtest_fake_input(kind, _NO_KEY)
        x, y = self._place
        self._connection.xtest_fake_input(X.MotionNotify, x=x, y=y)
        self._connection.sync()

    def _listen(self) -> None:
        """Subscribe to changes, so that unchanged state needn't be read."""
        self._connection.xfixes_query_version()
        lost = (
            xfixes.XFixesSetSelectionOwnerNotifyMask
            | xfixes.XFixesSelectionWindowDestroyNotifyMask
            | xfixes.XFixesSelectionClientCloseNotifyMask
        )
        for selection in self._selections:
            self._connection.xfixes_select_selection_input(self._root, selection, lost)
        self._root.xrandr_select_input(randr.RRScreenChangeNotifyMask)
        self._root.change_attributes(event_mask=X.PropertyChangeMask)
        events = self._connection.extension_event
        self._selected = {
            code
            for code, _ in (
                events.SetSelectionOwnerNotify,
                events.SelectionWindowDestroyNotify,
                events.SelectionClientCloseNotify,
            )
        }
        self._resized: int = events.ScreenChangeNotify

    def _hear(self) -> None:
        while self._connection.pending_events():
            event = self._connection.next_event()
            if event.type == X.PropertyNotify:
                self._changed.add(event.atom)
            elif event.type == X.MappingNotify:
                self._changed.add(_BUTTONS)
            elif event.type == self._locks.remapped:
                self._changed |= {_KEYS, _MODIFIERS}
            elif event.type in self._selected:
                self._changed.add(event.selection)
            elif event.type == self._resized:
                self._changed.add(_SIZE)

    def _ask(self) -> tuple[Any, Any, Sequence[Any]]:
        """Request at once all state without events: held keys, locks, and settings."""
        display = self._connection.display
        kinds = (request.GetKeyboardControl, request.GetPointerControl, request.GetScreenSaver)
        return self._held.ask(), self._locks.ask(), [self._controls.ask(), *(kind(display, True) for kind in kinds)]

    def _read(self, part: Hashable) -> Any:
        match part:
            case "keys":
                info = self._connection.display.info
                count = info.max_keycode - info.min_keycode + 1
                return [list(keysyms) for keysyms in self._connection.get_keyboard_mapping(info.min_keycode, count)]
            case "modifiers":
                return [
                    sorted(keycode for keycode in keycodes if keycode)
                    for keycodes in self._connection.get_modifier_mapping()
                ]
            case "buttons":
                return list(self._connection.get_pointer_mapping())
            case "size":
                info = self._root.xrandr_get_screen_info()
                size = info.sizes[info.size_id]
                return size.width_in_pixels, size.height_in_pixels, info.rotation
            case int() if part in self._selections:
                owner = self._connection.get_selection_owner(part)
                return owner.id if owner else None
            case _:
                held = self._root.get_property(part, X.AnyPropertyType, 0, _LONGEST_PROPERTY)
                return held and (held.property_type, held.format, bytes(held.value) if held.format == 8 else held.value)

    # ── bringing it back ─────────────────────────────────────────────────────────────────────────────────────────────

    def _restore_input(self, held: Any, locks: Any) -> bool:
        """Return whether there was anything to do; it is sent with the next requests."""
        released = self._held.release(held)
        now, latched = self._locks.locks_of(locks)
        if locked := latched or now != self._first_locks:
            self._locks.set(self._first_locks, unlatch=True)
        if moved := self._held.place_of(held) != self._place:
            x, y = self._place
            self._connection.xtest_fake_input(X.MotionNotify, x=x, y=y)
        return released or locked or moved

    def _restore_settings(self, now: dict[Hashable, Any]) -> bool:
        """Return whether there was anything to do; it is sent with the next requests."""
        others = [part for part in now if now[part] != self._wanted[part]]
        for part in others:
            self._write(part, self._wanted[part], now[part])
        return bool(others)

    def _write(self, part: Hashable, wanted: Any, now: Any) -> None:
        connection = self._connection
        match part:
            case "controls":
                self._controls.set(wanted)
            case "bell":
                click, percent, pitch, duration = wanted
                connection.change_keyboard_control(
                    key_click_percent=click, bell_percent=percent, bell_pitch=pitch, bell_duration=duration
                )
            case "pointer":
                numerator, denominator, threshold = wanted
                connection.change_pointer_control((numerator, denominator), threshold)
            case "screen saver":
                connection.set_screen_saver(*wanted)
            case "keys":
                first = connection.display.info.min_keycode
                # As wide as the widest, the map may have become wider.
                for keycode, (keysyms, other) in enumerate(zip(wanted, now, strict=True), first):
                    width = max(len(keysyms), len(other))
                    if _padded(keysyms, width) != _padded(other, width):
                        connection.change_keyboard_mapping(keycode, [_padded(keysyms, width)])
            case "modifiers":
                connection.set_modifier_mapping(wanted)
            case "buttons":
                # Those that the overlay has disabled stay so.
                connection.set_pointer_mapping([image and first for image, first in zip(now, wanted, strict=True)])
            case "size":
                self._resize(*wanted)
            case int() if part in self._selections:
                if now:
                    request.SetSelectionOwner(
                        display=connection.display, window=X.NONE, selection=part, time=X.CurrentTime
                    )
            case _ if wanted is None:
                self._root.delete_property(part)
            case _:
                self._root.change_property(part, *wanted)

    def _resize(self, width: int, height: int, rotation: int) -> None:
        info = self._root.xrandr_get_screen_info()
        for index, size in enumerate(info.sizes):
            if (size.width_in_pixels, size.height_in_pixels) == (width, height):
                self._root.xrandr_set_screen_config(index, rotation, info.config_timestamp)
                return

    def _load_keyboard(self, rules: Any) -> None:
        """Have the keyboard map made of these rules again, types and layouts included."""
        if rules is None:
            return
        names = rules[2].decode("latin-1").split("\0")
        options = [word for pair in zip(_RULE_OPTIONS, names, strict=False) if pair[1] for word in pair]
        # The first option is empty, or the existing ones would stay.
        command = ["setxkbmap", "-display", self._display, "-option", "", *options]
        done = subprocess.run(
            command,
            env=child_environment(os.environ, {"XAUTHORITY": str(self._xauthority)}),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            log.warning("the keyboard map could not be reloaded: %s", done.stderr.decode(errors="replace").strip())


class AsyncInitialState:
    """An InitialState for the event loop. A server that is gone, or doesn't answer, is noticed elsewhere."""

    def __init__(self, thread: ClientThread[InitialState]) -> None:
        self._thread = thread

    @classmethod
    async def open(cls, display: str, xauthority: Path) -> Self:
        return cls(await open_in_thread("initial state", lambda: InitialState(display, xauthority), display))

    async def wait_for_buttons(self) -> None:
        await self._run(InitialState.wait_for_buttons)

    async def restore_input(self) -> None:
        await self._run(InitialState.restore_input)

    async def restore(self) -> None:
        await self._run(InitialState.restore)

    async def restore_screen(self) -> None:
        await self._run(InitialState.restore_screen)

    async def keep(self) -> None:
        await self._run(InitialState.keep)

    async def close(self) -> None:
        await self._thread.close()

    async def _run(self, work: Callable[[InitialState], None]) -> None:
        with contextlib.suppress(DisplayLost):
            await self._thread.run(work)


def _values_of(settings: Sequence[Any]) -> dict[Hashable, Any]:
    controls, keyboard, pointer, saver = settings
    for asked in (keyboard, pointer, saver):
        asked.reply()
    return {
        _CONTROLS: KeyboardControls.values_of(controls),
        _BELL: (keyboard.key_click_percent, keyboard.bell_percent, keyboard.bell_pitch, keyboard.bell_duration),
        _POINTER: (pointer.accel_num, pointer.accel_denom, pointer.threshold),
        _SAVER: (saver.timeout, saver.interval, saver.prefer_blanking, saver.allow_exposures),
    }


def _padded(keysyms: Sequence[int], width: int) -> tuple[int, ...]:
    return (*keysyms, *(0 for _ in range(width - len(keysyms))))


def _log_error(problem: error.XError, request: object) -> None:
    log.warning("the X server could not be restored to its initial state: %s", problem)
