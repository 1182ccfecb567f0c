"""The JPEG tiles of a recorded stream of Tight, for those who decode JPEG and nothing else."""

from __future__ import annotations

import struct
from collections.abc import Generator, Sequence
from typing import Final

from pluriverse_protocol.rfb.numbers import Encoding
from viewer import EXPLICIT_FILTER, FILL, JPEG, MIN_TO_COMPRESS, PALETTE_FILTER, TIGHT_PIXEL_BYTES

UPDATE_HEAD: Final = 4
RECTANGLE_HEAD: Final = 12
WORD: Final = 4


def tile_file(updates: Sequence[bytes]) -> bytes:
    """All tiles, as ``peers/turbo.c`` reads them."""
    parts: list[bytes] = []
    for update in updates:
        for place, data in _tiles(update):
            parts += [struct.pack("=5I", *place, len(data)), data, bytes(-len(data) % WORD)]
    return b"".join(parts)


def _tiles(update: bytes) -> Generator[tuple[tuple[int, int, int, int], bytes]]:
    at = UPDATE_HEAD
    while at < len(update):
        x, y, width, height, encoding = struct.unpack_from(">4Hi", update, at)
        at += RECTANGLE_HEAD
        if encoding == Encoding.LAST_RECT:
            return
        assert encoding == Encoding.TIGHT, encoding
        kind = update[at] >> 4
        at += 1
        if kind == FILL:
            at += TIGHT_PIXEL_BYTES
        elif kind == JPEG:
            size, at = _length(update, at)
            yield (x, y, width, height), update[at : at + size]
            at += size
        else:
            at = _past_basic(update, at, kind, width, height)


def _past_basic(update: bytes, at: int, kind: int, width: int, height: int) -> int:
    """Return where the zlib-compressed pixels end."""
    size = width * height * TIGHT_PIXEL_BYTES
    if kind & EXPLICIT_FILTER:
        at += 1
        if update[at - 1] == PALETTE_FILTER:
            colours = update[at] + 1
            at += 1 + colours * TIGHT_PIXEL_BYTES
            size = (width + 7) // 8 * height if colours == 2 else width * height
    if size >= MIN_TO_COMPRESS:
        size, at = _length(update, at)
    return at + size


def _length(update: bytes, at: int) -> tuple[int, int]:
    """A length of Tight's, and where it ends."""
    length = 0
    for shift in (0, 7, 14):
        octet = update[at]
        at += 1
        length |= (octet if shift == 14 else octet & 0x7F) << shift
        if octet < 0x80:
            break
    return length, at
