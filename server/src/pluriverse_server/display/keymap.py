"""The keyboard map: which keycode types a keysym, and spare keycodes for those that the map lacks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from Xlib import X
from Xlib.display import Display

from pluriverse_server.x11.connection import ReportingLoss, hang_up, open_display

# Agents press these to measure latency. X0tigervnc silently drops a keysym that the map lacks, so they get keycodes at
# the map's very end, which no keyboard has, before that server looks at the map.
PROBE_KEYCODES: Final = {0xBEEF1: 248, 0xBEEF2: 249}

SHIFT_L: Final = 0xFFE1

# From 1 to the space bar, on every keyboard of a PC. Maps have some of their characters on other keys as well, without
# Shift where these need it; no keyboard in use has those.
MAIN_BLOCK: Final = range(10, 66)

# Keysyms from here to the first Unicode one are functions (Print, F1, KP_1); below and above are characters. Shift is
# what reaches a character in the map's second column; a function there may need Alt or Num Lock instead.
_FIRST_FUNCTION: Final = 0xFE00
_FIRST_UNICODE: Final = 0x01000000


# Whose keys Num Lock gives another meaning.
KEYPAD: Final = range(0xFF80, 0xFFBE)


def is_character(keysym: int) -> bool:
    return keysym < _FIRST_FUNCTION or keysym >= _FIRST_UNICODE


def heeds_locks(keysym: int) -> bool:
    """Return whether a key of it means something else where Caps Lock, Num Lock or another layout is on."""
    return is_character(keysym) or keysym in KEYPAD


@dataclass(frozen=True, slots=True)
class Stroke:
    """The keycode that types a keysym, with Shift held or not."""

    keycode: int
    shift: bool = False


class Keymap:
    """An X server's keyboard map, as far as an injector needs it. Others may change it: see ``reload``."""

    def __init__(self, connection: Display, remapped: int = X.MappingNotify) -> None:
        """``remapped``: the type of the events by which the connection hears of changes."""
        self._connection = connection
        self._remapped = remapped
        # The keysym that each spare keycode was given, least recently used first; 0 for one not used yet.
        self._spares: OrderedDict[int, int] = OrderedDict()
        self._strokes: dict[int, Stroke] = {}
        self._shifting: frozenset[int] = frozenset()
        self.reload()
        self.shift = self._strokes[SHIFT_L].keycode if SHIFT_L in self._strokes else None

    @property
    def keysyms(self) -> Collection[int]:
        return [keysym for keysym, stroke in self._strokes.items() if stroke.keycode not in self._spares]

    def known(self, keysym: int) -> Stroke | None:
        """Return what types the keysym as the map is; None if the map lacks it."""
        return self._strokes.get(keysym)

    def shifts(self, keycode: int) -> bool:
        """Return whether Shift makes another character of the key's."""
        return keycode in self._shifting

    def follow(self) -> None:
        """Take in what others have changed; the connection's other events are dropped."""
        remapped = False
        for _ in range(self._connection.pending_events()):
            remapped |= self._connection.next_event().type == self._remapped
        if remapped:
            self.reload()

    def keep(self) -> tuple[Any, ...]:
        """Return what this knows, for ``go_back`` when the server has gone back, too."""
        return self._spares.copy(), self._strokes.copy(), self._shifting

    def go_back(self, kept: tuple[Any, ...]) -> None:
        spares, strokes, self._shifting = kept
        self._spares, self._strokes = spares.copy(), strokes.copy()

    def restore(self) -> None:
        for keycode, keysym in self._spares.items():
            if keysym:
                self._connection.change_keyboard_mapping(keycode, [(0, 0)])
                self._strokes.pop(keysym, None)
                self._spares[keycode] = 0

    def reload(self) -> None:
        info = self._connection.display.info
        first: int = info.min_keycode
        columns: Sequence[Sequence[int]] = self._connection.get_keyboard_mapping(first, info.max_keycode - first + 1)
        strokes: dict[int, Stroke] = {}
        # All of the first column before any of the second, so that Shift is used only where it is needed.
        for main, shift in ((True, False), (True, True), (False, False), (False, True)):
            for keycode, keysyms in enumerate(columns, first):
                keysym = keysyms[shift] if len(keysyms) > shift else 0
                if keysym and main == (keycode in MAIN_BLOCK) and (not shift or is_character(keysym)):
                    strokes.setdefault(keysym, Stroke(keycode, shift))
        self._strokes = strokes
        self._shifting = frozenset(
            keycode for keycode, keysyms in enumerate(columns, first) if len({*keysyms[:2]} - {0}) == 2
        )
        for keycode, keysyms in enumerate(columns, first):
            if not any(keysyms) and keycode not in PROBE_KEYCODES.values():
                self._spares[keycode] = 0
            elif keycode in self._spares and self._spares[keycode] != keysyms[0]:
                # Another client has taken it: the VNC server adds keysyms too.
                del self._spares[keycode]
        if not any(self._spares.values()):
            # As on a new server: the same keysyms get the same keycodes.
            self._spares = OrderedDict.fromkeys(sorted(self._spares), 0)

    def stroke(self, keysym: int, held: Collection[int]) -> Stroke | None:
        """Return what types the keysym; None if the map lacks it and every spare keycode is held.

        One that the map lacks is given the spare keycode longest unused that isn't held.
        """
        stroke = self._strokes.get(keysym)
        if stroke is None:
            keycode = next((spare for spare in self._spares if spare not in held), None)
            if keycode is None:
                return None
            self._strokes.pop(self._spares[keycode], None)
            # In both columns, so that Shift makes no difference.
            self._connection.change_keyboard_mapping(keycode, [(keysym, keysym)])
            self._spares[keycode] = keysym
            stroke = self._strokes[keysym] = Stroke(keycode)
        if stroke.keycode in self._spares:
            self._spares.move_to_end(stroke.keycode)
        return stroke


def map_probe_keysyms(display: str, xauthority: Path) -> None:
    """Give the probes' keysyms their keycodes; returns once the server has. It blocks for as long as that is frozen."""
    connection = open_display(display, xauthority)
    try:
        with ReportingLoss(display):
            for keysym, keycode in PROBE_KEYCODES.items():
                connection.change_keyboard_mapping(keycode, [(keysym, keysym)])
            connection.sync()
    finally:
        hang_up(connection)
