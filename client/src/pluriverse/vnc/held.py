"""Input as RFB messages, and what it left pressed."""

from __future__ import annotations

from collections.abc import Iterable

from pluriverse_protocol.events import KeyEvent, PointerEvent

from pluriverse.rfb import messages

InputEvent = KeyEvent | PointerEvent


class Held:
    """The keys and buttons that are down."""

    def __init__(self) -> None:
        # A dict keeps the order: what was pressed last is let go first, modifiers at the end.
        self._keys: dict[int, None] = {}
        self._pointer = PointerEvent(0, 0, 0)

    def messages(self, events: Iterable[InputEvent]) -> bytes:
        """What to send for these events; remembers what they press."""
        return b"".join(map(self._message, events))

    def release(self) -> bytes:
        """What to send so that nothing stays pressed; afterwards nothing is."""
        releases: list[InputEvent] = [KeyEvent(key, False) for key in reversed(self._keys)]
        if self._pointer.buttonmask:
            releases.append(PointerEvent(self._pointer.x, self._pointer.y, 0))
        return self.messages(releases)

    def _message(self, event: InputEvent) -> bytes:
        match event:
            case KeyEvent(keysym, down):
                if down:
                    self._keys[keysym] = None
                else:
                    self._keys.pop(keysym, None)
                return messages.key_event(keysym, down)
            case PointerEvent(x, y, buttonmask):
                self._pointer = event
                return messages.pointer_event(x, y, buttonmask)
