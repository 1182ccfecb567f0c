"""The decoder in Python: numpy paints, zlib inflates, simplejpeg decodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.rfb.events import Cursor
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.numbers import Encoding
from pluriverse_protocol.rfb.server_stream import ServerStream
from pluriverse_protocol.rfb.steps import Steps

from .canvas import Canvas
from .encodings import Reader
from .encodings.plain import read_copyrect, read_raw
from .encodings.tight import Tight
from .events import CursorShape, Event
from .picture import PictureSpec


class PythonDecoder:
    """``pluriverse.rfb.decoder.Decoder``, which describes its members."""

    def __init__(
        self, width: int, height: int, *, regions: Sequence[Region] | None = None, spec: PictureSpec | None = None
    ) -> None:
        self._canvas = Canvas(width, height, regions, spec)
        readers: dict[int, Reader] = {
            Encoding.RAW: read_raw,
            Encoding.COPYRECT: read_copyrect,
            Encoding.TIGHT: Tight().read,
        }
        painters = {encoding: partial(self._paint, reader) for encoding, reader in readers.items()}
        self._stream = ServerStream(width, height, painters, self._canvas.resize)

    @property
    def width(self) -> int:
        return self._stream.width

    @property
    def height(self) -> int:
        return self._stream.height

    @property
    def updates(self) -> int:
        """Framebuffer updates that were completed so far."""
        return self._stream.updates

    @property
    def pixels(self) -> int:
        """Pixels of all picture rectangles that were completed so far."""
        return self._stream.pixels

    @property
    def in_update(self) -> bool:
        """Whether an update has begun and isn't complete."""
        return self._stream.in_update

    @property
    def extended_buttons(self) -> bool:
        """Whether the server takes pointer events with nine buttons."""
        return self._stream.extended_buttons

    @property
    def framebuffer(self) -> NDArray[np.uint8]:
        """RGB, shape (height, width, 3)."""
        return self._canvas.framebuffer

    @property
    def picture(self) -> NDArray[np.uint8]:
        return self._canvas.picture.pixels.copy()

    @property
    def block(self) -> bytes | None:
        return self._canvas.picture.block()

    def feed(self, data: bytes | bytearray | memoryview) -> list[Event]:
        """Take in the next bytes of the stream."""
        return [_shape(event) if isinstance(event, Cursor) else event for event in self._stream.feed(data)]

    def _paint(self, reader: Reader, r: Region) -> Steps[None]:
        self._canvas.in_luma = False
        yield from reader(self._canvas, r)
        self._canvas.picture.update(r, in_luma=self._canvas.in_luma)


def _shape(cursor: Cursor) -> CursorShape:
    rgba = np.empty((cursor.height, cursor.width, 4), np.uint8)
    rgba[..., :3] = np.frombuffer(cursor.pixels, np.uint8).reshape(rgba.shape)[..., 2::-1]
    mask = np.frombuffer(cursor.mask, np.uint8).reshape(cursor.height, (cursor.width + 7) // 8)
    rgba[..., 3] = np.unpackbits(mask, axis=1, count=cursor.width) * 255
    return CursorShape(cursor.hotspot_x, cursor.hotspot_y, rgba)
