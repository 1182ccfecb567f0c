"""Pictures of a screen, compressed for a model."""

from __future__ import annotations

import struct
import zlib
from typing import Final, Literal

import numpy as np
import simplejpeg  # pyright: ignore[reportMissingTypeStubs]

from pluriverse.adapters.pictures import Pixels
from pluriverse.rfb import Region
from pluriverse.rfb.decoder import make_picture
from pluriverse.rfb.picture import PictureSpec

from .answer import Image
from .view import View

Format = Literal["png", "jpeg"]

JPEG_QUALITY: Final = 80

# Three times as quick as the usual level, and a tenth larger.
ZLIB_LEVEL: Final = 3

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_RGB: Final = 2

# Each byte less the one above it: what games draw is mostly the same from row to row.
_UP: Final = 2


def shown(screen: Pixels, view: View) -> Pixels:
    """Return a view of a screen, uint8 (height, width, 3), RGB, of shape (view.height, view.width, 3)."""
    return make_picture(screen, PictureSpec(Region(*view.box), (view.height, view.width)))


def compress(picture: Pixels, format: Format) -> Image:  # noqa: A002 - what Pillow calls it
    """Return a picture, uint8 (height, width, 3), RGB, as a file."""
    picture = np.ascontiguousarray(picture)
    if format == "jpeg":
        return Image(simplejpeg.encode_jpeg(picture, JPEG_QUALITY, "RGB"), "image/jpeg")
    return Image(_png(picture), "image/png")


def _png(picture: Pixels) -> bytes:
    height, width, channels = picture.shape
    rows = np.empty((height, 1 + width * channels), np.uint8)
    rows[:, 0] = _UP
    flat = picture.reshape(height, -1)
    rows[0, 1:] = flat[0]
    np.subtract(flat[1:], flat[:-1], out=rows[1:, 1:])
    header = struct.pack(">IIBBBBB", width, height, 8, _RGB, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), ZLIB_LEVEL)), (b"IEND", b""))
    return _SIGNATURE + b"".join(map(_chunk, *zip(*chunks, strict=True)))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
