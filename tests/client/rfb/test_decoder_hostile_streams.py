"""A server that means harm, or is broken: typed errors, nothing else, and no more memory than the limits allow."""

import contextlib
import struct
import zlib

import numpy as np
import pytest
import simplejpeg  # pyright: ignore[reportMissingTypeStubs] - it has them, in an unusual place
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.errors import (
    BadData,
    BadGeometry,
    LimitExceeded,
    RfbProtocolError,
    UnknownEncoding,
    UnknownMessage,
)
from pluriverse_protocol.rfb import limits
from pluriverse_protocol.rfb.numbers import Encoding
from support.pictures import photo
from support.rfb_encoders import extended_desktop_size, rectangle, update

WIDTH, HEIGHT = 64, 48
WHOLE = (0, 0, WIDTH, HEIGHT)
PIXELS = WIDTH * HEIGHT
ENDED = zlib.compress(bytes(3 * PIXELS))


def deflated(plain: bytes) -> bytes:
    stream = zlib.compressobj()
    return stream.compress(plain) + stream.flush(zlib.Z_SYNC_FLUSH)


def compact(length: int) -> bytes:
    return bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14])


def tight(body: bytes, place: tuple[int, int, int, int] = WHOLE) -> bytes:
    return update(rectangle(*place, Encoding.TIGHT, body))


def tight_jpeg(data: bytes) -> bytes:
    return tight(b"\x90" + compact(len(data)) + data)


def tight_basic(plain: bytes, head: bytes = b"\x00") -> bytes:
    packed = deflated(plain)
    return tight(head + compact(len(packed)) + packed)


def jpeg(width: int = WIDTH, height: int = HEIGHT) -> bytes:
    return simplejpeg.encode_jpeg(np.ascontiguousarray(photo(width, height)), quality=90)


def progressive(data: bytes) -> bytes:
    return data.replace(b"\xff\xc0", b"\xff\xc2", 1)


BAD: dict[str, tuple[type[RfbProtocolError], bytes]] = {
    "message": (UnknownMessage, b"\x07"),
    "encoding": (UnknownEncoding, update(rectangle(*WHOLE, 2))),
    "pseudo-encoding": (UnknownEncoding, update(rectangle(*WHOLE, -314))),
    "rectangle right of the desktop": (BadGeometry, update(rectangle(WIDTH - 5, 0, 6, 1, Encoding.RAW))),
    "rectangle below the desktop": (BadGeometry, update(rectangle(0, HEIGHT, 1, 1, Encoding.TIGHT))),
    "empty rectangle off the desktop": (BadGeometry, update(rectangle(WIDTH + 1, 0, 0, 0, Encoding.TIGHT))),
    "rectangle of 65535 by 65535": (BadGeometry, update(rectangle(0, 0, 0xFFFF, 0xFFFF, Encoding.RAW))),
    "copy from off the desktop": (
        BadGeometry,
        update(rectangle(0, 0, 9, 9, Encoding.COPYRECT, struct.pack(">HH", WIDTH - 8, 0))),
    ),
    "desktop without pixels": (LimitExceeded, update(rectangle(0, 0, 0, 10, Encoding.DESKTOP_SIZE))),
    "desktop too wide": (LimitExceeded, update(extended_desktop_size(limits.MAX_SIDE + 1, 10))),
    "desktop too large": (LimitExceeded, update(extended_desktop_size(limits.MAX_SIDE, limits.MAX_SIDE))),
    "cursor too large": (LimitExceeded, update(rectangle(0, 0, limits.MAX_CURSOR_SIDE + 1, 1, Encoding.CURSOR))),
    "clipboard": (LimitExceeded, b"\x03\0\0\0" + struct.pack(">I", limits.MAX_CLIPBOARD_BYTES + 1)),
    "extended clipboard, never asked for": (LimitExceeded, b"\x03\0\0\0" + struct.pack(">i", -8)),
    "fence": (LimitExceeded, b"\xf8\0\0\0\0\0\0\0\x41"),
    "tight compression": (BadData, tight(b"\xa0")),
    "tight filter": (BadData, tight(b"\x40\x03")),
    "tight palette of one, and a second colour": (BadData, tight_basic(b"\xff" * (PIXELS // 8), b"\x40\x01\x00abc")),
    "tight palette that is too short": (BadData, tight_basic(b"\x03" * PIXELS, b"\x40\x01\x02" + bytes(9))),
    "tight with too little data": (BadData, tight_basic(bytes(3 * PIXELS - 1))),
    "tight with too much data": (BadData, tight_basic(bytes(3 * PIXELS + 1))),
    "tight zlib bomb": (BadData, tight_basic(bytes(100_000_000))),
    "tight with no zlib data": (BadData, tight(b"\x00" + compact(0))),
    "tight with other than zlib data": (BadData, tight(b"\x00" + compact(100) + b"\x55" * 100)),
    "jpeg of another size": (BadData, tight_jpeg(jpeg(WIDTH, HEIGHT - 1))),
    "jpeg that is larger": (BadData, tight_jpeg(jpeg(WIDTH * 4, HEIGHT * 4))),
    "jpeg that is cut off": (BadData, tight_jpeg(jpeg()[:-300])),
    "jpeg in several scans": (BadData, tight_jpeg(progressive(jpeg()))),
    "jpeg without data": (BadData, tight_jpeg(b"")),
    "other than jpeg": (BadData, tight_jpeg(b"\x89PNG" + bytes(200))),
    "jpeg that is damaged": (BadData, tight_jpeg(jpeg()[:700] + b"\xff\xc0" * 200)),
    "zlib stream that has ended": (BadData, 2 * tight(b"\x00" + compact(len(ENDED)) + ENDED)),
}


def play(decoder: Decoder, stream: bytes, piece: int) -> None:
    for at in range(0, len(stream), piece):
        decoder.feed(stream[at : at + piece])


@pytest.mark.parametrize("name", list(BAD))
def test_bad_stream_is_a_typed_error_however_it_is_cut(decoder_class: type[Decoder], name: str) -> None:
    error, stream = BAD[name]
    decoder = decoder_class(WIDTH, HEIGHT)
    with pytest.raises(error) as raised:
        decoder.feed(stream)
    assert len(str(raised.value)) > 10
    assert (decoder.width, decoder.height) == (WIDTH, HEIGHT)
    decoder = decoder_class(WIDTH, HEIGHT)
    with pytest.raises(error):
        play(decoder, stream, 5)


def test_decoder_is_dead_after_an_error(decoder_class: type[Decoder]) -> None:
    decoder = decoder_class(WIDTH, HEIGHT)
    with pytest.raises(UnknownMessage) as first:
        decoder.feed(b"\x07")
    for data in (b"\x02", b"", update()):
        with pytest.raises(UnknownMessage) as again:
            decoder.feed(data)
        assert str(again.value) == str(first.value)


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (limits.MAX_SIDE + 1, 5), (limits.MAX_SIDE, limits.MAX_SIDE)])
def test_decoder_for_an_impossible_desktop_is_refused(decoder_class: type[Decoder], size: tuple[int, int]) -> None:
    with pytest.raises(LimitExceeded):
        decoder_class(*size)


def test_empty_rectangles_of_every_encoding_do_no_harm(decoder_class: type[Decoder]) -> None:
    bodies = {
        Encoding.COPYRECT: [bytes(4)],
        Encoding.TIGHT: [b"\x80abc", b"\x00", b"\x40\x02", b"\x40\x01\x01" + bytes(6), b"\x40\x01\x05" + bytes(18)],
    }
    for encoding, variants in bodies.items():
        for body in variants:
            for width, height in ((0, 0), (0, 7), (7, 0)):
                decoder = decoder_class(WIDTH, HEIGHT)
                decoder.feed(update(rectangle(WIDTH - 7, HEIGHT - 7, width, height, encoding, body)))
                assert decoder.updates == 1
                assert not decoder.framebuffer.any()


def test_empty_jpeg_rectangle_is_an_error(decoder_class: type[Decoder]) -> None:
    flat = bytearray(jpeg())
    at = flat.index(b"\xff\xc0")
    flat[at + 5 : at + 7] = bytes(2)
    for width, height in ((WIDTH, 0), (0, 0)):
        with pytest.raises(BadData):
            decoder_class(WIDTH, HEIGHT).feed(tight(b"\x90" + compact(len(flat)) + bytes(flat), (0, 0, width, height)))


@given(garbage=st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_garbage_is_waited_for_or_raises_a_typed_error(decoder_class: type[Decoder], garbage: bytes) -> None:
    decoder = decoder_class(WIDTH, HEIGHT)
    with contextlib.suppress(RfbProtocolError):
        decoder.feed(b"\0\0\0\x09" + garbage)
    assert decoder.framebuffer.nbytes == decoder.width * decoder.height * 3
