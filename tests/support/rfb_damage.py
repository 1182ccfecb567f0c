"""Streams of every encoding, and what can happen to them."""

import random
import zlib
from collections.abc import Iterator
from unittest import mock

import numpy as np
from pluriverse_protocol.rfb.messages import fence
from pluriverse_protocol.rfb.numbers import Encoding
from support import rfb_encoders
from support.pictures import photo, sprites, writing
from support.rfb_encoders import Encoder, Picture, rectangle, update

WIDTH, HEIGHT = 144, 80
KINDS = ["raw", "tight", "tight palette", "tight gradient", "tight copy", "tight jpeg"]


class Stored(rfb_encoders.Deflater):
    """A zlib stream that compresses nothing: what is damaged in it comes out damaged, instead of not at all."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(0)


def _pictures(kind: str) -> Iterator[Picture]:
    small = (70, 35) if kind == "raw" else (WIDTH - 8, HEIGHT - 8)
    if kind != "tight palette":
        yield photo(*small, 1.0)
    yield sprites(*small, 3, 12)
    yield sprites(*small, 4, 4)
    yield writing(*small, 1)
    yield np.full((small[1], small[0], 3), 77, np.uint8)


def _around() -> bytes:
    """What isn't pictures."""
    cursor = rfb_encoders.cursor(1, 2, np.full((5, 9, 4), 255, np.uint8))
    messages = b"\x02" + b"\x03\0\0\0\0\0\0\x05hello" + fence(1, b"abc") + b"\x96" + b"\x01\0\0\0\0\x02" + bytes(12)
    moved = rfb_encoders.copyrect(3, 4, 60, 50, 10, 20)
    resized = rfb_encoders.extended_desktop_size(WIDTH + 8, HEIGHT + 4)
    back = rectangle(0, 0, WIDTH, HEIGHT, Encoding.DESKTOP_SIZE)
    return messages + update(cursor, moved) + update(resized) + update(back, moved, last_rect=True)


def whole_streams() -> list[bytes]:
    """One for each encoding, compressed and stored, for a screen of WIDTH x HEIGHT."""
    made = [_around()]
    for deflater in (rfb_encoders.Deflater, Stored):
        with mock.patch.object(rfb_encoders, "Deflater", deflater):
            for kind in KINDS:
                encoder = Encoder(1)
                made.append(b"".join(update(encoder.encode(kind, each, 5, 3)) for each in _pictures(kind)))
    return made


def damaged(stream: bytes, chance: random.Random) -> bytes:
    """The stream with up to four faults."""
    data = bytearray(stream)
    for _ in range(chance.randint(0, 4)):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at] = chance.randrange(256)
            case 2:
                del data[at : at + chance.randint(1, 8)]
            case _:
                data[at:at] = data[at : at + chance.randint(1, 8)]
        if not data:
            break
    return bytes(data)


def cut(data: bytes, chance: random.Random) -> list[bytes]:
    """The stream as a network might bring it."""
    chunks: list[bytes] = []
    largest = chance.choice([7, 500, 1 << 16])
    while data:
        size = chance.randint(1, largest)
        chunks.append(data[:size])
        data = data[size:]
    return chunks
