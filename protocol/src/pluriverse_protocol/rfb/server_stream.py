"""Splits a server's bytes after ServerInit into messages."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final

from . import events
from .errors import LimitExceeded, UnknownEncoding, UnknownMessage
from .geometry import Region, desktop_fault
from .limits import MAX_CLIPBOARD_BYTES, MAX_CURSOR_SIDE, MAX_FENCE_BYTES
from .numbers import Encoding, ServerMessage
from .pixel_format import BYTES_PER_PIXEL
from .steps import StepReader, Steps, skip

# Message heads without their first byte, the type.
_UPDATE: Final = struct.Struct(">xH")
_COLOUR_MAP: Final = struct.Struct(">xHH")
_CUT_TEXT: Final = struct.Struct(">xxxI")
_FENCE: Final = struct.Struct(">xxxIB")

# A rectangle's place, and its encoding.
RECTANGLE: Final = struct.Struct(">HHHHi")

_SCREEN_BYTES: Final = 16
_COLOUR_MAP_ENTRY_BYTES: Final = 6

RectangleReader = Callable[[Region], Steps[None]]


class ServerStream:
    """Parse the messages of a server that was asked for ``pixel_format.BGRX``.

    ``readers`` are the encodings that were asked for, each with the steps that read the body of its rectangle.
    ``on_resize`` is called with a new size, in pixels, before anything of that size is read.
    """

    def __init__(
        self,
        width: int,
        height: int,
        readers: Mapping[int, RectangleReader],
        on_resize: Callable[[int, int], None] = lambda _width, _height: None,
    ) -> None:
        self.width = width
        self.height = height
        self.updates = 0
        """Framebuffer updates that were completed."""
        self.pixels = 0
        """Pixels of all picture rectangles that were completed."""
        self.in_update = False
        """Whether a framebuffer update has begun and isn't complete."""
        self.extended_buttons = False
        """Whether the server takes pointer events with nine buttons."""
        self.size_refusal = 0
        """Why the server refused a size that a client asked for, in RFB's numbers; 0 if it never did."""
        self._readers = readers
        self._on_resize = on_resize
        self._events: list[events.Event] = []
        self._reader = StepReader(self._read_messages())

    def feed(self, data: bytes | bytearray | memoryview) -> list[events.Event]:
        """Take in the next bytes, however they were cut; return what happened, in order."""
        self._reader.feed(data)
        happened, self._events = self._events, []
        return happened

    def _read_messages(self) -> Steps[None]:
        while True:
            kind = (yield 1)[0]
            match kind:
                case ServerMessage.FRAMEBUFFER_UPDATE:
                    yield from self._read_update()
                case ServerMessage.SET_COLOUR_MAP_ENTRIES:
                    # Some servers set up a map that true colour has no use for.
                    _, count = _COLOUR_MAP.unpack((yield _COLOUR_MAP.size))
                    yield from skip(count * _COLOUR_MAP_ENTRY_BYTES)
                case ServerMessage.BELL:
                    self._events.append(events.Bell())
                case ServerMessage.SERVER_CUT_TEXT:
                    yield from self._read_clipboard()
                case ServerMessage.END_OF_CONTINUOUS_UPDATES:
                    self._events.append(events.EndOfContinuousUpdates())
                case ServerMessage.FENCE:
                    yield from self._read_fence()
                case _:
                    raise UnknownMessage(f"a message of unknown type {kind}")

    def _read_clipboard(self) -> Steps[None]:
        (size,) = _CUT_TEXT.unpack((yield _CUT_TEXT.size))
        if size > MAX_CLIPBOARD_BYTES:
            raise LimitExceeded(f"a clipboard of {size} bytes, more than {MAX_CLIPBOARD_BYTES}")
        text = (yield size).decode("latin-1")
        self._events.append(events.ClipboardText(text))

    def _read_fence(self) -> Steps[None]:
        flags, size = _FENCE.unpack((yield _FENCE.size))
        if size > MAX_FENCE_BYTES:
            raise LimitExceeded(f"a fence of {size} bytes, more than {MAX_FENCE_BYTES}")
        payload = yield size
        self._events.append(events.Fence(flags, payload))

    def _read_update(self) -> Steps[None]:
        self.in_update = True
        (count,) = _UPDATE.unpack((yield _UPDATE.size))
        rectangles, pixels_before = 0, self.pixels
        for _ in range(count):
            *place, encoding = RECTANGLE.unpack((yield RECTANGLE.size))
            if encoding == Encoding.LAST_RECT:
                break
            r = Region(*place)
            if encoding in self._readers:
                r.require_inside(self.width, self.height)
                yield from self._readers[encoding](r)
                self.pixels += r.width * r.height
                rectangles += 1
            else:
                yield from self._read_pseudo_rectangle(encoding, r)
        self.in_update = False
        self.updates += 1
        self._events.append(events.UpdateFinished(rectangles, self.pixels - pixels_before))

    def _read_pseudo_rectangle(self, encoding: int, r: Region) -> Steps[None]:
        match encoding:
            case Encoding.DESKTOP_SIZE:
                self._resize(r.width, r.height)
            case Encoding.EXTENDED_DESKTOP_SIZE:
                screens = (yield 4)[0]
                yield screens * _SCREEN_BYTES
                if r.y == 0:
                    self._resize(r.width, r.height)
                else:
                    self.size_refusal = r.y
            case Encoding.CURSOR:
                yield from self._read_cursor(r)
            case Encoding.EXTENDED_MOUSE_BUTTONS:
                self.extended_buttons = True
            case _:
                raise UnknownEncoding(f"a rectangle of encoding {encoding}, which was not requested")

    def _resize(self, width: int, height: int) -> None:
        if (width, height) == (self.width, self.height):
            return
        fault = desktop_fault(width, height)
        if fault is not None:
            raise LimitExceeded(fault)
        self._on_resize(width, height)
        self.width, self.height = width, height
        self._events.append(events.Resized(width, height))

    def _read_cursor(self, r: Region) -> Steps[None]:
        if r.width > MAX_CURSOR_SIDE or r.height > MAX_CURSOR_SIDE:
            raise LimitExceeded(f"a pointer's picture of {r.width}x{r.height}, more than {MAX_CURSOR_SIDE} each way")
        pixels = yield r.width * r.height * BYTES_PER_PIXEL
        mask = yield (r.width + 7) // 8 * r.height
        self._events.append(events.Cursor(*r, pixels, mask))
