"""Input as RFB messages, and which keys and buttons it left pressed."""

from __future__ import annotations

from collections.abc import Iterable

from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.rfb import messages

InputEvent = KeyEvent | PointerEvent


class InputState:
    """The keys and buttons that are down."""

    def __init__(self) -> None:
        # A dict keeps the order: keys are released in reverse, modifiers at the end.
        self._keys: dict[int, None] = {}
        self._pointer = PointerEvent(0, 0, 0)

    def messages(self, events: Iterable[InputEvent]) -> bytes:
        """Return the messages of these events, and note what they press."""
        sent = list(events)
        self.note(sent)
        return b"".join(map(_message, sent))

    def release(self) -> bytes:
        """Return the messages that release everything."""
        return b"".join(map(_message, self.take()))

    def presses(self) -> list[InputEvent]:
        """Return the events that press everything again, as another connection needs them."""
        presses: list[InputEvent] = [KeyEvent(key, True) for key in self._keys]
        if self._pointer.buttonmask:
            presses.append(self._pointer)
        return presses

    def note(self, events: Iterable[InputEvent]) -> None:
        """Note what these events press and release."""
        for event in events:
            if isinstance(event, PointerEvent):
                self._pointer = event
            elif event.down:
                self._keys[event.keysym] = None
            else:
                self._keys.pop(event.keysym, None)

    def take(self) -> list[InputEvent]:
        """Return the events that release everything, and note them."""
        releases: list[InputEvent] = [KeyEvent(key, False) for key in reversed(self._keys)]
        if self._pointer.buttonmask:
            releases.append(PointerEvent(self._pointer.x, self._pointer.y, 0))
        self.note(releases)
        return releases


def _message(event: InputEvent) -> bytes:
    if isinstance(event, KeyEvent):
        return messages.key_event(event.keysym, event.down)
    return messages.pointer_event(event.x, event.y, event.buttonmask)
