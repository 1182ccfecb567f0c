"""One client's messages on their way to the VNC server: what it may press, in keys that this server can press.

X0tigervnc drops a character that needs Shift unless the client holds it, and one that the keyboard map lacks; Xtigervnc
adds those until the map is full. Here Shift is pressed around such a key, and what is missing is put on the map before
the key goes on. All stays on the one connection, in its order: a click that follows a key comes after it.

Nor does every one press the eighth and the ninth button, back and forward: those are pressed here. Clients may say the
ninth, as RFB's ExtendedMouseButtons is answered here too.
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, Protocol

from msgspec.structs import replace
from pluriverse_protocol.events import KeyEvent, PointerEvent, ScreenEvent
from pluriverse_protocol.limits import MAX_KEYSYM
from pluriverse_protocol.rfb.errors import RfbError
from pluriverse_protocol.rfb.messages import (
    encodings_of,
    key_event,
    key_of,
    pointer_event,
    pointer_of,
    read_message,
    set_encodings,
)
from pluriverse_protocol.rfb.numbers import ClientMessage, Encoding, ServerMessage
from pluriverse_protocol.rfb.server_stream import RECTANGLE
from pluriverse_protocol.rfb.steps import PAUSE, StepReader, Steps

from pluriverse_server.permitted import Permitted
from pluriverse_server.tasks import start_task

from .share import Share

log = logging.getLogger(__name__)

SHIFT_L: Final = 0xFFE1
SHIFT_R: Final = 0xFFE2
SHIFTS: Final = frozenset((SHIFT_L, SHIFT_R))

# X has 248 keys.
MAX_HELD: Final = 256

# The clipboard goes neither way, the kernel's keys of QEMU's message would pass by all that is done here.
PASSING: Final = frozenset(ClientMessage) - {ClientMessage.CLIENT_CUT_TEXT, ClientMessage.QEMU}

# The first is answered here, since not every VNC server knows it, the second makes clients send QEMU's message.
WITHHELD: Final = (Encoding.EXTENDED_MOUSE_BUTTONS, Encoding.QEMU_EXTENDED_KEY_EVENT)

# An update that announces pointer events with nine buttons.
TAKES_NINE_BUTTONS: Final = bytes((ServerMessage.FRAMEBUFFER_UPDATE, 0, 0, 1)) + RECTANGLE.pack(
    0, 0, 0, 0, Encoding.EXTENDED_MOUSE_BUTTONS
)

# Those that every VNC server presses, as a pointer event's mask. The others are pressed by the ``Keyboard``.
VNC_BUTTONS: Final = 0x7F

# Unicode's keysyms of the characters of Latin-1, which have shorter ones.
_UNICODE: Final = 0x01000000
_LATIN_1: Final = frozenset((*range(0x20, 0x7F), *range(0xA0, 0x100)))


class Way(enum.Enum):
    ANYHOW = enum.auto()
    WITH_SHIFT = enum.auto()
    WITHOUT_SHIFT = enum.auto()
    MISSING = enum.auto()


class Keyboard(Protocol):
    def way(self, keysym: int) -> Way:
        """Return how it is typed, at once; keysyms that were added are still ``MISSING``."""
        ...

    async def press(self, keysym: int) -> bool:
        """Put a missing keysym on the map, and keep it there until its ``release``; return whether that was done."""
        ...

    async def arrived(self, keysym: int, down: bool) -> None:
        """Return once one that was put on the map is down, or up again; soon in any case."""
        ...

    def release(self, keysym: int) -> None:
        """Let the place of one that was pressed be taken by another."""
        ...

    async def click(self, event: PointerEvent, changed: int) -> None:
        """Press and release the buttons of the mask ``changed``, if any, once all else of the event has arrived."""
        ...

    def rest(self) -> None:
        """Restore the map when typing has ended."""
        ...

    async def close(self) -> None: ...


class ClientInput:
    def __init__(
        self,
        client: asyncio.Transport,
        server: asyncio.Transport,
        keyboard: Keyboard | None,
        permitted: Callable[[], Permitted | None],
        answer: Callable[[bytes], None],
        patience_s: Callable[[], float],
    ) -> None:
        """``permitted`` returns what may be pressed at the moment; None is everything. ``answer`` sends to the client.

        ``patience_s`` returns for how long it may be over its share.
        """
        self._client = client
        self._answer = answer
        self._server = server
        self._keyboard = keyboard
        self._permitted = permitted
        self._patience_s = patience_s
        self._clock = asyncio.get_running_loop().time
        self._share = Share(self._clock())
        self._dropped = False
        self._held: set[int] = set()  # the keysyms that the client holds
        self._added: set[int] = set()  # those of them that the map lacked
        self._pointer = PointerEvent(0, 0, 0)  # the last that was passed on
        self._asked = False  # whether the VNC server may be sending anything
        self._extended = False
        self._waiting: asyncio.Task[None] | None = None
        self._passed = bytearray()
        self._reader = StepReader(self._run())

    @property
    def presses(self) -> bool:
        """Whether a button is down on the VNC server."""
        return self._pointer.buttonmask != 0

    def feed(self, data: bytes) -> None:
        """Send on what came, up to a key that has to be put on the map first, or what is over the client's share."""
        self._reader.feed(data)
        self._flush()
        if self._waiting is not None:
            # What comes meanwhile waits in the kernel.
            self._client.pause_reading()

    def close(self) -> None:
        """Release what the client holds, which X0tigervnc doesn't by itself."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._passed.clear()
        self.lift()

    def lift(self) -> None:
        """Release what the client holds; it may press it again."""
        for keysym in list(self._held):
            self._release(keysym)
            self._passed += key_event(keysym, False)
        held = self._pointer.buttonmask
        if held:
            self._pointer = event = replace(self._pointer, buttonmask=0)
            self._passed += pointer_event(event.x, event.y, 0)
            if held & ~VNC_BUTTONS and self._keyboard is not None:
                start_task(self._keyboard.click(event, held & ~VNC_BUTTONS), "VNC client's buttons", lambda: None)
        self._flush()

    def _run(self) -> Steps[None]:
        while True:
            kind, message = yield from read_message(PASSING, extended=self._extended)
            over_s = self._share.take(message or bytes((kind,)), self._clock(), self._patience_s())
            if over_s:
                yield from self._wait(asyncio.sleep(over_s))
            if kind == ClientMessage.KEY_EVENT:
                keysym, down = key_of(message)
                event = KeyEvent(_shortest(keysym), down)
                if self._may_pass(event):
                    yield from self._key(event.keysym, down)
            elif kind == ClientMessage.POINTER_EVENT:
                event = PointerEvent(*pointer_of(message))
                if self._may_pass(event):
                    yield from self._point(event)
                elif self._pointer.buttonmask & ~event.buttonmask:
                    # As keys may be released that may not be pressed any more.
                    held = self._pointer.buttonmask & event.buttonmask
                    yield from self._point(replace(self._pointer, buttonmask=held))
            elif kind == ClientMessage.SET_ENCODINGS:
                self._take_encodings(encodings_of(message))
            else:
                self._asked = self._asked or kind == ClientMessage.FRAMEBUFFER_UPDATE_REQUEST
                self._passed += message

    def _take_encodings(self, encodings: Sequence[int]) -> None:
        wanted = Encoding.EXTENDED_MOUSE_BUTTONS in encodings
        if wanted and not self._asked and not self._extended:
            # Later it could come in the middle of what the VNC server sends.
            self._answer(TAKES_NINE_BUTTONS)
            self._extended = True
        self._extended = self._extended and wanted
        self._asked = True
        self._passed += set_encodings([each for each in encodings if each not in WITHHELD])

    def _point(self, event: PointerEvent) -> Steps[None]:
        before, self._pointer = self._pointer.buttonmask, event
        changed = (before ^ event.buttonmask) & ~VNC_BUTTONS
        if changed and self._keyboard is not None:
            # Clicks at one place can't be seen to arrive. Beside it the pointer can.
            aside = replace(event, x=event.x - 1 if event.x else 1, buttonmask=before)
            self._passed += pointer_event(aside.x, aside.y, before & VNC_BUTTONS)
            yield from self._wait(self._keyboard.click(aside, 0))
        self._passed += pointer_event(event.x, event.y, event.buttonmask & VNC_BUTTONS)
        if changed and self._keyboard is not None:
            yield from self._wait(self._keyboard.click(event, changed))

    def _may_pass(self, event: ScreenEvent) -> bool:
        permitted = self._permitted()
        if permitted is None or permitted.allows(event):
            return True
        if not self._dropped:
            self._dropped = True
            log.debug("VNC: %s was dropped, like all input that the environment's spaces don't declare", event)
        return False

    def _key(self, keysym: int, down: bool) -> Steps[None]:
        if not 0 < keysym <= MAX_KEYSYM:
            return
        if not down:
            added = keysym in self._added
            self._release(keysym)
            self._passed += key_event(keysym, False)
            if added:
                yield from self._await_arrival(keysym, down)
            return
        way = self._keyboard.way(keysym) if self._keyboard is not None else Way.ANYHOW
        if way is Way.MISSING and keysym not in self._added:
            yield from self._wait(self._add(keysym))
        shifts = self._held & SHIFTS
        before: dict[int, bool] = {}
        if way is Way.WITH_SHIFT and not shifts:
            before = {SHIFT_L: True}
        elif way is Way.WITHOUT_SHIFT:
            before = dict.fromkeys(shifts, False)
        after = {shift: not change for shift, change in before.items()}
        for each, change in (*before.items(), (keysym, True), *after.items()):
            self._passed += key_event(each, change)
        if len(self._held) < MAX_HELD:
            self._held.add(keysym)
        if keysym in self._added:
            yield from self._await_arrival(keysym, down)

    def _await_arrival(self, keysym: int, down: bool) -> Steps[None]:
        """Let nothing follow: a filter may halt the keyboard with such a key, and the VNC server sees no Shift then."""
        assert self._keyboard is not None
        yield from self._wait(self._keyboard.arrived(keysym, down))

    def _wait(self, awaited: Coroutine[Any, Any, None]) -> Steps[None]:
        self._waiting = start_task(self._resume_after(awaited), "VNC client's key", self._client.abort)
        yield PAUSE

    def _release(self, keysym: int) -> None:
        self._held.discard(keysym)
        if keysym in self._added and self._keyboard is not None:
            self._added.discard(keysym)
            self._keyboard.release(keysym)

    async def _add(self, keysym: int) -> None:
        assert self._keyboard is not None
        if await self._keyboard.press(keysym):
            self._added.add(keysym)

    async def _resume_after(self, awaited: Coroutine[Any, Any, None]) -> None:
        await awaited
        self._waiting = None
        try:
            self._reader.resume()
        except RfbError as error:
            log.debug("VNC: a client was disconnected: %s", error)
            self._client.abort()
        self._flush()
        _, high = self._server.get_write_buffer_limits()
        if self._waiting is None and self._server.get_write_buffer_size() <= high:
            self._client.resume_reading()

    def _flush(self) -> None:
        if self._passed:
            self._server.write(bytes(self._passed))
            self._passed.clear()


def _shortest(keysym: int) -> int:
    return keysym - _UNICODE if keysym - _UNICODE in _LATIN_1 else keysym
