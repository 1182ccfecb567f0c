"""What a person's hands do and hold, as events of the v0 protocol. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent
from pluriverse_protocol.limits import MAX_MOTION
from pluriverse_protocol.rfb.geometry import Box


class HumanInput:
    """Turns what keyboard, mouse and gamepads do into events; whatever is pressed is released once."""

    def __init__(self, box: Box, *, relative: bool = False) -> None:
        """``box`` is the picture: x, y, width and height on the screen; outside of it the mouse does nothing.

        ``relative``: not where the mouse is counts but how far it moves.
        """
        self._box = box
        self._relative = relative
        # The keysym that each key was pressed as, by its place on the keyboard: Shift may change it meanwhile.
        self._keys: dict[int, int] = {}
        self._place = (0, 0) if relative else box[:2]
        self._buttons = 0
        # The last event of the mouse, if nothing but a movement.
        self._movement: Event | None = None
        self._pads: dict[str, float] = {}
        self._events: list[Event] = []

    def press(self, key: int, keysym: int) -> None:
        """Press the ``key`` with this number on the keyboard."""
        self.release(key)
        if keysym not in self._keys.values():
            self._events.append(KeyEvent(keysym, True))
        self._keys[key] = keysym

    def release(self, key: int) -> None:
        keysym = self._keys.pop(key, None)
        if keysym is not None and keysym not in self._keys.values():
            self._events.append(KeyEvent(keysym, False))

    def mouse(self, x: int, y: int, button: int = 0, *, down: bool = False) -> None:
        """Move the mouse to a pixel of the screen, or by so much; or press or release a ``button`` of RFB's mask there.

        A button that was pressed in the picture is held wherever the mouse goes.
        """
        left, top, width, height = self._box
        inside = self._relative or (left <= x < left + width and top <= y < top + height)
        if not (inside or self._buttons):
            return
        if not self._relative:
            x, y = min(max(x, left), left + width - 1), min(max(y, top), top + height - 1)
        held = self._buttons
        mask = held & ~button if not down else held | button if inside else held
        moves = mask == held
        if moves and (x, y) == self._place:
            return
        # Of movements alone only the last place counts, or their sum.
        if moves and self._events and self._events[-1] is self._movement:
            last = self._events.pop()
            if isinstance(last, RelativePointerEvent):
                x, y = _limited(last.dx + x), _limited(last.dy + y)
        self._buttons = mask
        self._place = (0, 0) if self._relative else (x, y)
        self._events.append(self._pointer(x, y))
        self._movement = self._events[-1] if moves else None

    def hold_pads(self, pads: Mapping[str, float]) -> None:
        """Note how the inputs of gamepads are, by the names of their events; all others are at rest."""
        for name in {**self._pads, **pads}:
            value = pads.get(name, 0.0)
            if value != self._pads.get(name, 0.0):
                self._events.append(JoystickEvent(name, value))
        self._pads = dict(pads)

    def take(self) -> list[Event]:
        """Return the events since the last call."""
        events, self._events = self._events, []
        return events

    def let_go(self) -> None:
        for key in reversed(list(self._keys)):
            self.release(key)
        if self._buttons:
            self._buttons = 0
            self._events.append(self._pointer(*self._place))
        self.hold_pads({})

    def presses(self) -> list[Event]:
        """Return the events that press everything that is held, for an episode that has not seen them."""
        keys = [KeyEvent(keysym, True) for keysym in dict.fromkeys(self._keys.values())]
        pads = [JoystickEvent(name, value) for name, value in self._pads.items() if value]
        return [*keys, self._pointer(*self._place), *pads]

    def _pointer(self, x: int, y: int) -> Event:
        return (RelativePointerEvent if self._relative else PointerEvent)(x, y, self._buttons)


def _limited(motion: int) -> int:
    return min(max(motion, -MAX_MOTION), MAX_MOTION)
