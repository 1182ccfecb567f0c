"""The interface of a connection, common to both implementations: its frames, and input as RFB messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.rfb import messages

from pluriverse.errors import ActionError

# Those of a pointer event without RFB's extension.
RFB_BUTTONS: Final = 0xFF

InputEvent = KeyEvent | PointerEvent


class Frame(NamedTuple):
    """One whole frame, never torn.

    ``array`` is uint8 of shape (height, width, 3), RGB, or (height, width, 1) where grey was asked for; read-only, and
    it stays as it is for as long as it is kept. ``block`` are the pixels of ``VncOptions.block``, three bytes each, row
    by row; None without one. ``updates`` and ``pixels`` count what had come from the server by then. ``at`` is when the
    last byte of it had been decoded, in UNIX seconds.
    """

    array: NDArray[np.uint8]
    block: bytes | None
    updates: int
    pixels: int
    at: float


class InputState:
    """Which keys and buttons were left pressed."""

    def __init__(self) -> None:
        # A dict keeps the order: keys are released in reverse, modifiers at the end.
        self._keys: dict[int, None] = {}
        self._pointer = PointerEvent(0, 0, 0)

    def messages(self, events: Sequence[InputEvent], *, extended: bool = False) -> bytes:
        """Return the messages of these events, and note what they press.

        ``extended``: the server supports nine buttons.
        """
        sent = b"".join(map(_message, events, repeat(extended)))
        self.note(events)
        return sent

    def release(self) -> bytes:
        """Return the messages that release everything; another connection may yet ask what was held."""
        return b"".join(map(_message, self.releases(), repeat(False)))

    def presses(self) -> list[InputEvent]:
        """Return the events that press everything again, as another connection needs them.

        All but the ninth button, since the server may not have announced it yet.
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
        raise ActionError(
            "the VNC server doesn't support the ninth button (forward): it lacks RFB's ExtendedMouseButtons"
        )
    return messages.pointer_event(event.x, event.y, event.buttonmask, extended=extended)


class VncConnection(Protocol):
    """One screen. Threads may share it, except for ``close``, which is called once no other thread uses it.

    A fork's child can't use its parent's connections: there they are dead, and raise.
    """

    @property
    def width(self) -> int:
        """The screen's, in pixels; follows it when it changes."""
        ...

    @property
    def height(self) -> int: ...

    @property
    def error(self) -> Exception | None:
        """Why the connection is dead: an RfbProtocolError, a ConnectionError or a TimeoutError. None: it is alive."""
        ...

    @property
    def fresh(self) -> bool:
        """Whether ``frame`` would return a frame that it didn't before."""
        ...

    def frame(self) -> Frame | None:
        """The latest whole frame; None before the first. Doesn't wait. The same object until there is a newer one."""
        ...

    @property
    def held(self) -> InputState:
        """The keys and buttons that were left pressed."""
        ...

    def send_events(self, events: Sequence[InputEvent]) -> None:
        """Send keys and pointer, in pixels of the screen. Doesn't wait; on a dead connection they are lost."""
        ...

    def close(self) -> None:
        """Let go of all keys and buttons, and hang up. No thread and no socket remain. May be called repeatedly."""
        ...
