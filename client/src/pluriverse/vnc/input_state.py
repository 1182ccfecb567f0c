"""Input as RFB messages, and which keys and buttons it left pressed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Final

from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.rfb import messages

from pluriverse.errors import ActionError

# Those of a pointer event without RFB's extension.
RFB_BUTTONS: Final = 0xFF

InputEvent = KeyEvent | PointerEvent


class InputState:
    def __init__(self) -> None:
        # A dict keeps the order: keys are released in reverse, modifiers at the end.
        self._keys: dict[int, None] = {}
        self._pointer = PointerEvent(0, 0, 0)

    def messages(self, events: Sequence[InputEvent], *, extended: bool = False) -> bytes:
        """Return the messages of these events, and note what they press.

        ``extended``: the server has said that it takes nine buttons.
        """
        sent = b"".join(map(_message, events, repeat(extended)))
        self.note(events)
        return sent

    def release(self) -> bytes:
        """Return the messages that release everything; another connection may yet ask what was held."""
        return b"".join(map(_message, self.releases(), repeat(False)))

    def presses(self) -> list[InputEvent]:
        """Return the events that press everything again, as another connection needs them.

        All but the ninth button, since that may not have said yet whether it takes one.
        """
        presses: list[InputEvent] = [KeyEvent(key, True) for key in self._keys]
        if mask := self._pointer.buttonmask & RFB_BUTTONS:
            presses.append(PointerEvent(self._pointer.x, self._pointer.y, mask))
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

    def releases(self) -> list[InputEvent]:
        """Return the events that release everything."""
        releases: list[InputEvent] = [KeyEvent(key, False) for key in reversed(self._keys)]
        if self._pointer.buttonmask:
            releases.append(PointerEvent(self._pointer.x, self._pointer.y, 0))
        return releases


# Agents press the same few keys again and again.
@lru_cache(4096)
def _message(event: InputEvent, extended: bool) -> bytes:
    if isinstance(event, KeyEvent):
        return messages.key_event(event.keysym, event.down)
    if event.buttonmask & ~RFB_BUTTONS and not extended:
        raise ActionError("the VNC server takes no ninth button (forward): it lacks RFB's ExtendedMouseButtons")
    return messages.pointer_event(event.x, event.y, event.buttonmask, extended=extended)
