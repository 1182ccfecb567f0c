"""Input as RFB messages, and what it left pressed."""

from __future__ import annotations

from collections.abc import Iterable

from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.rfb import messages

InputEvent = KeyEvent | PointerEvent


class Held:
    """The keys and buttons that are down."""

    def __init__(self) -> None:
        # A dict keeps the order: what was pressed last is let go first, modifiers at the end.
        self._keys: dict[int, None] = {}
        self._pointer = PointerEvent(0, 0, 0)

    def messages(self, events: Iterable[InputEvent]) -> bytes:
        """What to send for these events; remembers what they press."""
        sent = list(events)
        self.note(sent)
        return b"".join(map(_message, sent))

    def release(self) -> bytes:
        """What to send so that nothing stays pressed; afterwards nothing is."""
        return b"".join(map(_message, self.take()))

    def note(self, events: Iterable[InputEvent]) -> None:
        """Remember what these events press."""
        for event in events:
            if isinstance(event, PointerEvent):
                self._pointer = event
            elif event.down:
                self._keys[event.keysym] = None
            else:
                self._keys.pop(event.keysym, None)

    def take(self) -> list[InputEvent]:
        """The events after which nothing is pressed; from now on nothing is."""
        releases: list[InputEvent] = [KeyEvent(key, False) for key in reversed(self._keys)]
        if self._pointer.buttonmask:
            releases.append(PointerEvent(self._pointer.x, self._pointer.y, 0))
        self.note(releases)
        return releases


def _message(event: InputEvent) -> bytes:
    match event:
        case KeyEvent(keysym, down):
            return messages.key_event(keysym, down)
        case PointerEvent(x, y, buttonmask):
            return messages.pointer_event(x, y, buttonmask)
