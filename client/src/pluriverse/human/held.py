"""What a person's hands do and hold, as the events of a remote's screen. Pure: times are passed in, in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.rfb.geometry import Box

from pluriverse.vnc.connection import InputEvent

# A held key repeats as a release and a press at the same moment, which no finger can do.
REPEAT_S: Final = 0.005

# Shift to Hyper, ISO_Level3_Shift (AltGr) and Mode_switch: they change which character a key is.
MODIFIERS: Final = frozenset({*range(0xFFE1, 0xFFEF), 0xFE03, 0xFF7E})


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the keyboard went down or up."""

    at: float
    keysym: int
    down: bool


@dataclass(frozen=True, slots=True)
class Mouse:
    """The mouse moved; or a ``button``, a bit of the mask of RFB, went down or up. In pixels of the screen."""

    x: int
    y: int
    button: int = 0
    down: bool = False


class HumanInput:
    """Turns what a keyboard and a mouse do into events, without the keyboard's repeats.

    Whatever is pressed is released once, also if Shift changed the character meanwhile.
    """

    def __init__(self, box: Box) -> None:
        """``box`` is the picture: x, y, width and height on the screen; outside of it the mouse does nothing."""
        self._box = box
        # Each key that is down, with the modifiers that it was pressed with, in the order of the presses.
        self._keys: dict[int, frozenset[int]] = {}
        # Since when a key seems to be released.
        self._releasing: dict[int, float] = {}
        self._pointer = PointerEvent(box[0], box[1], 0)
        # Whether the last event was a movement alone, of which only the last place counts.
        self._moved = False
        self._events: list[InputEvent] = []

    def key(self, key: Key) -> None:
        """Take in a key; ``take`` returns its release a moment later."""
        if key.down:
            self._press(key)
        elif key.keysym in self._keys:
            self._releasing.setdefault(key.keysym, key.at)
        elif key.keysym not in MODIFIERS:
            # It was pressed as the character that other modifiers make of it.
            modifiers = self._modifiers()
            for held, pressed_with in self._keys.items():
                if held not in MODIFIERS and pressed_with != modifiers:
                    self._releasing.setdefault(held, key.at)

    def mouse(self, mouse: Mouse) -> None:
        """Take in the mouse. A button that was pressed in the picture is held wherever it goes."""
        left, top, width, height = self._box
        x = min(max(mouse.x, left), left + width - 1)
        y = min(max(mouse.y, top), top + height - 1)
        inside = (x, y) == (mouse.x, mouse.y)
        mask = self._pointer.buttonmask
        if not (inside or mask):
            return
        if mouse.button and mouse.down and inside:
            mask |= mouse.button
        elif mouse.button and not mouse.down:
            mask &= ~mouse.button
        self._point(PointerEvent(x, y, mask))

    def take(self, now: float) -> list[InputEvent]:
        """Return the events since the last call."""
        for keysym in [keysym for keysym, at in self._releasing.items() if now - at >= REPEAT_S]:
            self._release(keysym)
        events, self._events = self._events, []
        return events

    def let_go(self) -> None:
        for keysym in reversed(list(self._keys)):
            self._release(keysym)
        if self._pointer.buttonmask:
            self._point(PointerEvent(self._pointer.x, self._pointer.y, 0))

    def presses(self) -> list[InputEvent]:
        """Return the events that press everything that is held, for an episode that has not seen them."""
        return [*(KeyEvent(keysym, True) for keysym in self._keys), self._pointer]

    def _press(self, key: Key) -> None:
        released_at = self._releasing.get(key.keysym)
        if released_at is not None:
            if key.at - released_at < REPEAT_S:
                del self._releasing[key.keysym]
                return
            self._release(key.keysym)
        if key.keysym not in self._keys:
            self._keys[key.keysym] = self._modifiers()
            self._events.append(KeyEvent(key.keysym, True))

    def _release(self, keysym: int) -> None:
        self._releasing.pop(keysym, None)
        del self._keys[keysym]
        self._events.append(KeyEvent(keysym, False))

    def _point(self, pointer: PointerEvent) -> None:
        if pointer == self._pointer:
            return
        moves = pointer.buttonmask == self._pointer.buttonmask
        if moves and self._moved and self._events and isinstance(self._events[-1], PointerEvent):
            self._events.pop()
        self._moved = moves
        self._pointer = pointer
        self._events.append(pointer)

    def _modifiers(self) -> frozenset[int]:
        return frozenset(self._keys.keys() & MODIFIERS) - self._releasing.keys()
