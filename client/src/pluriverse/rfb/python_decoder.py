"""The decoder in Python: numpy paints, zlib inflates, simplejpeg decodes; between them a parser that can wait anywhere.

The parser is a generator: it yields how many bytes it needs next and is sent just those. Each byte is copied once into
the buffer and once out of it, however the stream is cut.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from . import events
from .canvas import Canvas
from .encodings import Reader, Steps
from .encodings.hextile import read_hextile
from .encodings.plain import read_copyrect, read_raw
from .encodings.tight import Tight
from .encodings.zrle import Zrle
from .errors import LimitExceeded, RfbProtocolError, UnknownEncoding, UnknownMessage
from .geometry import Region
from .limits import MAX_CLIPBOARD_BYTES, MAX_CURSOR_SIDE, MAX_FENCE_BYTES
from .numbers import BYTES_PER_PIXEL, Encoding, ServerMessage

SCREEN_BYTES: Final = 16
COLOUR_MAP_ENTRY_BYTES: Final = 6


class PythonDecoder:
    """``pluriverse.rfb.decoder.Decoder``, which says what its members mean."""

    def __init__(self, width: int, height: int, *, regions: Sequence[Region] | None = None) -> None:
        self._canvas = Canvas(width, height, regions)
        self.updates = 0
        self.pixels = 0
        self._events: list[events.Event] = []
        self._readers: dict[int, Reader] = {
            Encoding.RAW: read_raw,
            Encoding.COPYRECT: read_copyrect,
            Encoding.HEXTILE: read_hextile,
            Encoding.TIGHT: Tight().read,
            Encoding.ZRLE: Zrle().read,
        }
        self._buffer = bytearray()
        self._failure: RfbProtocolError | None = None
        self._steps = self._read_messages()
        self._need = next(self._steps)

    @property
    def width(self) -> int:
        """The desktop's, in pixels."""
        return self._canvas.width

    @property
    def height(self) -> int:
        """The desktop's, in pixels."""
        return self._canvas.height

    @property
    def framebuffer(self) -> NDArray[np.uint8]:
        """RGB, shape (height, width, 3)."""
        return self._canvas.framebuffer

    def feed(self, data: bytes | bytearray | memoryview) -> list[events.Event]:
        """Take in the next bytes of the stream.

        Raises:
            RfbProtocolError: the stream is invalid, now or at an earlier call.
        """
        if self._failure is not None:
            raise type(self._failure)(*self._failure.args)
        self._buffer += data
        try:
            self._advance()
        except RfbProtocolError as error:
            # A new one: the one that is raised holds on to the frames that it came through, and to their data.
            self._failure = type(error)(*error.args)
            self._buffer.clear()
            raise
        happened, self._events = self._events, []
        return happened

    def _advance(self) -> None:
        at, size = 0, len(self._buffer)
        with memoryview(self._buffer) as view:
            while size - at >= self._need:
                end = at + self._need
                self._need = self._steps.send(bytes(view[at:end]))
                at = end
        # Taking bytes away from its front doesn't move a bytearray's rest.
        del self._buffer[:at]

    def _read_messages(self) -> Steps:
        while True:
            kind = (yield 1)[0]
            if kind == ServerMessage.FRAMEBUFFER_UPDATE:
                yield from self._read_update()
            elif kind == ServerMessage.SET_COLOUR_MAP_ENTRIES:
                # Some servers set up a map that true colour has no use for.
                _, count = struct.unpack(">xHH", (yield 5))
                yield count * COLOUR_MAP_ENTRY_BYTES
            elif kind == ServerMessage.BELL:
                self._events.append(events.Bell())
            elif kind == ServerMessage.SERVER_CUT_TEXT:
                yield from self._read_clipboard()
            elif kind == ServerMessage.END_OF_CONTINUOUS_UPDATES:
                self._events.append(events.EndOfContinuousUpdates())
            elif kind == ServerMessage.FENCE:
                yield from self._read_fence()
            else:
                raise UnknownMessage(f"a message of unknown type {kind}")

    def _read_clipboard(self) -> Steps:
        (size,) = struct.unpack(">xxxI", (yield 7))
        if size > MAX_CLIPBOARD_BYTES:
            raise LimitExceeded(f"a clipboard of {size} bytes, more than {MAX_CLIPBOARD_BYTES}")
        text = (yield size).decode("latin-1")
        self._events.append(events.ClipboardText(text))

    def _read_fence(self) -> Steps:
        flags, size = struct.unpack(">xxxIB", (yield 8))
        if size > MAX_FENCE_BYTES:
            raise LimitExceeded(f"a fence of {size} bytes, more than {MAX_FENCE_BYTES}")
        payload = yield size
        self._events.append(events.Fence(flags, payload))

    def _read_update(self) -> Steps:
        (count,) = struct.unpack(">xH", (yield 3))
        rectangles, pixels_before = 0, self.pixels
        for _ in range(count):
            *place, encoding = struct.unpack(">HHHHi", (yield 12))
            if encoding == Encoding.LAST_RECT:
                break
            r = Region(*place)
            if encoding in self._readers:
                self._canvas.check(r)
                yield from self._readers[encoding](self._canvas, r)
                self.pixels += r.width * r.height
                rectangles += 1
            else:
                yield from self._read_pseudo_rectangle(encoding, r)
        self.updates += 1
        self._events.append(events.UpdateFinished(rectangles, self.pixels - pixels_before))

    def _read_pseudo_rectangle(self, encoding: int, r: Region) -> Steps:
        if encoding == Encoding.DESKTOP_SIZE:
            self._resize(r.width, r.height)
        elif encoding == Encoding.EXTENDED_DESKTOP_SIZE:
            screens = (yield 4)[0]
            yield screens * SCREEN_BYTES
            # y other than 0: somebody's wish for another size was refused.
            if r.y == 0:
                self._resize(r.width, r.height)
        elif encoding == Encoding.CURSOR:
            yield from self._read_cursor(r)
        else:
            raise UnknownEncoding(f"a rectangle of encoding {encoding}, which was not asked for")

    def _resize(self, width: int, height: int) -> None:
        if (width, height) != (self.width, self.height):
            self._canvas.resize(width, height)
            self._events.append(events.Resized(width, height))

    def _read_cursor(self, r: Region) -> Steps:
        if r.width > MAX_CURSOR_SIDE or r.height > MAX_CURSOR_SIDE:
            raise LimitExceeded(
                f"a pointer's picture of {r.width}x{r.height}, more than {MAX_CURSOR_SIDE} pixels each way"
            )
        pixels = np.frombuffer((yield r.width * r.height * BYTES_PER_PIXEL), np.uint8)
        mask_row_bytes = (r.width + 7) // 8
        mask = np.frombuffer((yield mask_row_bytes * r.height), np.uint8).reshape(r.height, mask_row_bytes)
        rgba = np.empty((r.height, r.width, 4), np.uint8)
        rgba[..., :3] = pixels.reshape(rgba.shape)[..., 2::-1]
        rgba[..., 3] = np.unpackbits(mask, axis=1, count=r.width) * 255
        self._events.append(events.CursorShape(r.x, r.y, rgba))
