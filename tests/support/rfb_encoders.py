"""The other side of every encoding: pictures into bytes, as simply as can be. Pictures are RGB, (height, width, 3)."""

import random
import struct
import zlib
from typing import Final

import numpy as np
import simplejpeg  # pyright: ignore[reportMissingTypeStubs] - it has them, in an unusual place
from numpy.typing import NDArray
from pluriverse_protocol.rfb.numbers import Encoding

Picture = NDArray[np.uint8]

# "tight" picks what suits the picture, by chance; the others insist.
LOSSLESS: Final = ("raw", "tight")


def update(*rectangles: bytes, last_rect: bool = False) -> bytes:
    """A framebuffer update. With ``last_rect`` its length isn't told in advance."""
    body = b"".join(rectangles)
    if last_rect:
        return struct.pack(">BxH", 0, 0xFFFF) + body + rectangle(0, 0, 0, 0, Encoding.LAST_RECT)
    return struct.pack(">BxH", 0, len(rectangles)) + body


def rectangle(x: int, y: int, width: int, height: int, encoding: int, body: bytes = b"") -> bytes:
    return struct.pack(">HHHHi", x, y, width, height, encoding) + body


def copyrect(x: int, y: int, width: int, height: int, from_x: int, from_y: int) -> bytes:
    return rectangle(x, y, width, height, Encoding.COPYRECT, struct.pack(">HH", from_x, from_y))


def cursor(hotspot_x: int, hotspot_y: int, rgba: Picture) -> bytes:
    """The pointer's picture; what is transparent in it has alpha 0."""
    height, width, _ = rgba.shape
    body = _bgrx(rgba[..., :3]) + np.packbits(rgba[..., 3] > 0, axis=1).tobytes()
    return rectangle(hotspot_x, hotspot_y, width, height, Encoding.CURSOR, body)


def extended_desktop_size(width: int, height: int, *, reason: int = 0, refusal: int = 0) -> bytes:
    """The desktop as one screen."""
    screen = struct.pack(">IHHHHI", 0, 0, 0, width, height, 0)
    return rectangle(reason, refusal, width, height, Encoding.EXTENDED_DESKTOP_SIZE, struct.pack(">Bxxx", 1) + screen)


class Encoder:
    """One server's side: its zlib streams, and the chances that it takes."""

    def __init__(self, seed: int = 0) -> None:
        self._chance = random.Random(seed)
        self._tight: list[Deflater | None] = [None] * 4

    def encode(self, kind: str, picture: Picture, x: int = 0, y: int = 0) -> bytes:
        """A rectangle at (x, y) in the encoding that ``kind`` begins with."""
        height, width, _ = picture.shape
        match kind.split():
            case ["raw"]:
                encoding, body = Encoding.RAW, _bgrx(picture)
            case ["tight", *way]:
                encoding, body = Encoding.TIGHT, self._tight_body(picture, way[0] if way else None)
            case _:
                raise ValueError(kind)
        return rectangle(x, y, width, height, encoding, body)

    # Tight

    def _tight_body(self, picture: Picture, way: str | None) -> bytes:
        palette, indices = _palette(picture)
        ways = ["copy", "explicit-copy", "gradient"]
        if len(palette) == 1:
            ways.append("fill")
        if len(palette) <= 256:
            ways.append("palette")
        way = way or self._chance.choice(ways)
        stream = self._chance.randrange(4)
        resets = 0
        for index in range(4):
            if self._tight[index] is None or self._chance.random() < 0.1:
                self._tight[index] = Deflater()
                resets |= 1 << index
        if way == "fill":
            return bytes([0x80 | resets]) + palette[0].tobytes()
        if way == "jpeg":
            data = simplejpeg.encode_jpeg(np.ascontiguousarray(picture), quality=90, colorsubsampling="420")
            return bytes([0x90 | resets]) + _compact(len(data)) + data
        if way == "copy":
            return bytes([stream << 4 | resets]) + self._squeezed(stream, picture.tobytes())
        head = bytes([0x40 | stream << 4 | resets])
        if way == "gradient":
            return head + b"\x02" + self._squeezed(stream, _gradient(picture))
        if way == "palette":
            plain = np.packbits(indices > 0, axis=1) if len(palette) <= 2 else indices.astype(np.uint8)
            return head + bytes([1, len(palette) - 1]) + palette.tobytes() + self._squeezed(stream, plain.tobytes())
        return head + b"\x00" + self._squeezed(stream, picture.tobytes())

    def _squeezed(self, stream: int, plain: bytes) -> bytes:
        if len(plain) < 12:
            return plain
        deflater = self._tight[stream]
        assert deflater is not None
        packed = deflater.deflate(plain)
        return _compact(len(packed)) + packed


class Deflater:
    """A zlib stream that is flushed after each rectangle."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj()

    def deflate(self, plain: bytes) -> bytes:
        return self._stream.compress(plain) + self._stream.flush(zlib.Z_SYNC_FLUSH)


def _bgrx(picture: Picture) -> bytes:
    # The unused byte is anything; decoders must not care.
    return np.insert(picture[..., ::-1], 3, 0xA5, axis=2).tobytes()


def _palette(picture: Picture) -> tuple[Picture, NDArray[np.intp]]:
    palette, indices = np.unique(picture.reshape(-1, 3), axis=0, return_inverse=True)
    return palette, indices.reshape(picture.shape[:2])


def _compact(length: int) -> bytes:
    if length < 1 << 7:
        return bytes([length])
    if length < 1 << 14:
        return bytes([length & 0x7F | 0x80, length >> 7])
    return bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14])


def _gradient(picture: Picture) -> bytes:
    height, width, _ = picture.shape
    padded = np.zeros((height + 1, width + 1, 3), np.int32)
    padded[1:, 1:] = picture
    guess = (padded[1:, :-1] + padded[:-1, 1:] - padded[:-1, :-1]).clip(0, 255)
    return (picture - guess).astype(np.uint8).tobytes()
