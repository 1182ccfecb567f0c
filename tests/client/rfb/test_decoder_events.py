import struct

import numpy as np
import pytest
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.events import (
    Bell,
    ClipboardText,
    CursorShape,
    EndOfContinuousUpdates,
    Event,
    Fence,
    Resized,
    UpdateFinished,
)
from pluriverse_protocol.rfb.numbers import Encoding
from support.rfb_encoders import Encoder, cursor, extended_desktop_size, rectangle, update

MESSAGES: dict[str, tuple[bytes, list[Event]]] = {
    "bell": (b"\x02", [Bell()]),
    "clipboard": (b"\x03\0\0\0" + struct.pack(">I", 5) + b"caf\xe9!", [ClipboardText("café!")]),
    "empty clipboard": (b"\x03\0\0\0" + bytes(4), [ClipboardText("")]),
    "fence": (b"\xf8\0\0\0" + struct.pack(">IB", 0x80000005, 3) + b"abc", [Fence(0x80000005, b"abc")]),
    "empty fence": (b"\xf8\0\0\0" + struct.pack(">IB", 1, 0), [Fence(1, b"")]),
    "end of continuous updates": (b"\x96", [EndOfContinuousUpdates()]),
    "colour map, which true colour has no use for": (b"\x01\0" + struct.pack(">HH", 0, 2) + bytes(12), []),
    "empty update": (update(), [UpdateFinished(0, 0)]),
    "empty update up to LastRect": (update(last_rect=True), [UpdateFinished(0, 0)]),
    "new size": (
        update(rectangle(0, 0, 30, 20, Encoding.DESKTOP_SIZE)),
        [Resized(30, 20), UpdateFinished(0, 0)],
    ),
    "new size of an extended desktop": (
        update(extended_desktop_size(30, 20)),
        [Resized(30, 20), UpdateFinished(0, 0)],
    ),
    "the size that it has": (update(extended_desktop_size(16, 12)), [UpdateFinished(0, 0)]),
    "a size that was refused": (update(extended_desktop_size(30, 20, reason=1, refusal=1)), [UpdateFinished(0, 0)]),
}


@pytest.mark.parametrize("name", list(MESSAGES))
def test_message_is_told_as_an_event_however_it_is_cut(decoder_class: type[Decoder], name: str) -> None:
    message, expected = MESSAGES[name]
    decoder = decoder_class(16, 12)
    assert decoder.feed(message + message)[: len(expected)] == expected
    decoder = decoder_class(16, 12)
    assert [event for octet in message for event in decoder.feed(bytes([octet]))] == expected


def test_new_size_brings_a_new_black_framebuffer_and_leaves_the_old_one(decoder_class: type[Decoder]) -> None:
    decoder = decoder_class(16, 12)
    white = np.full((12, 16, 3), 255, np.uint8)
    decoder.feed(update(Encoder().encode("raw", white)))
    before = decoder.framebuffer
    decoder.feed(update(extended_desktop_size(40, 30)))
    assert (decoder.width, decoder.height) == (40, 30)
    assert decoder.framebuffer.shape == (30, 40, 3)
    assert decoder.framebuffer.flags.c_contiguous
    assert not decoder.framebuffer.any()
    np.testing.assert_array_equal(before, white)
    decoder.feed(update(Encoder().encode("raw", white, 24, 18)))
    np.testing.assert_array_equal(decoder.framebuffer[18:, 24:], white)


@pytest.mark.parametrize(("width", "height"), [(9, 5), (8, 8), (1, 1), (0, 0), (0, 3), (3, 0)])
def test_cursor_is_told_with_its_hotspot_and_transparency(
    decoder_class: type[Decoder], width: int, height: int
) -> None:
    chance = np.random.default_rng(width)
    rgba = chance.integers(0, 256, (height, width, 4), dtype=np.uint8)
    rgba[..., 3] = np.where(rgba[..., 3] > 99, 255, 0)
    shape, finished = decoder_class(16, 12).feed(update(cursor(4, 2, rgba)))
    assert isinstance(shape, CursorShape)
    assert (shape.hotspot_x, shape.hotspot_y) == (4, 2)
    np.testing.assert_array_equal(shape.rgba, rgba)
    assert finished == UpdateFinished(0, 0)
