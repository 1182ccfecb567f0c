from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_protocol.rfb.messages import read_message
from pluriverse_protocol.rfb.numbers import Encoding
from pluriverse_protocol.rfb.steps import StepReader, Steps
from pluriverse_server.viewer.view_only import PASSING as PASSING_KINDS
from pluriverse_server.viewer.view_only import ViewOnlyFilter

VERSION = b"RFB 003.008\n"
NO_PASSWORD = VERSION + b"\x01" + b"\x01"
WITH_PASSWORD = VERSION + b"\x02" + bytes(range(16)) + b"\x01"

SET_PIXEL_FORMAT = struct.pack("!B3x16s", 0, bytes([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16, 0, 0, 0]))
UPDATE_REQUEST = struct.pack("!BBHHHH", 3, 1, 0, 0, 400, 300)
CONTINUOUS_UPDATES = struct.pack("!BBHHHH", 150, 1, 0, 0, 400, 300)
FENCE = struct.pack("!B3xIB5s", 248, 1, 5, b"hello")
KEY = struct.pack("!BB2xI", 4, 1, ord("a"))
POINTER = struct.pack("!BBHH", 5, 1, 20, 30)
CLIPBOARD = struct.pack("!B3xi4s", 6, 4, b"text")
EXTENDED_CLIPBOARD = struct.pack("!B3xi4s", 6, -4, b"\x04\x04\x04\x04")
POWER = struct.pack("!BxBB", 250, 1, 2)
DESKTOP_SIZE = struct.pack("!BxHHBx16s", 251, 800, 600, 1, bytes([4] * 16))
QEMU_KEY = struct.pack("!BBHII", 255, 0, 1, ord("a"), 30)


def encodings(*values: int) -> bytes:
    return struct.pack(f"!BxH{len(values)}i", 2, len(values), *values)


PASSING = [SET_PIXEL_FORMAT, UPDATE_REQUEST, CONTINUOUS_UPDATES, FENCE, encodings(), encodings(7, -32, -239)]
TAKEN_OUT = [KEY, POINTER, CLIPBOARD, EXTENDED_CLIPBOARD, POWER, DESKTOP_SIZE, QEMU_KEY]

handshakes = st.sampled_from([NO_PASSWORD, WITH_PASSWORD, NO_PASSWORD.replace(b"008", b"007")])
messages = st.lists(st.sampled_from(PASSING + TAKEN_OUT), max_size=12)


def feed_in_chunks(stream: bytes, sizes: list[int]) -> tuple[bytes, str | None]:
    view_only, passed = ViewOnlyFilter(), b""
    for size in sizes:
        passed += view_only.feed(stream[:size])
        stream = stream[size:]
    return passed + view_only.feed(stream), view_only.refusal


@settings(deadline=None)
@given(handshakes, messages, st.lists(st.integers(0, 40)))
def test_only_what_asks_for_pictures_passes_however_it_is_cut(
    handshake: bytes, sent: list[bytes], sizes: list[int]
) -> None:
    passed, refusal = feed_in_chunks(handshake + b"".join(sent), sizes)
    assert passed == handshake + b"".join(message for message in sent if message in PASSING)
    assert refusal is None


@settings(deadline=None)
@given(handshakes, messages, st.binary(max_size=200), st.lists(st.integers(0, 40)))
def test_any_bytes_give_the_same_however_they_are_cut(
    handshake: bytes, sent: list[bytes], noise: bytes, sizes: list[int]
) -> None:
    stream = handshake + b"".join(sent) + noise
    assert feed_in_chunks(stream, sizes) == feed_in_chunks(stream, [])


@settings(deadline=None)
@given(handshakes, st.binary(max_size=400))
def test_whatever_follows_the_handshake_the_server_sees_whole_messages_of_passing_kinds(
    handshake: bytes, noise: bytes
) -> None:
    passed, _ = feed_in_chunks(handshake + noise, [])
    seen: list[bytes] = []

    def read_messages() -> Steps[None]:
        while True:
            kind, message = yield from read_message(PASSING_KINDS)
            assert kind in PASSING_KINDS
            seen.append(message)

    StepReader(read_messages()).feed(passed.removeprefix(handshake))
    assert handshake + b"".join(seen) == passed


def test_a_viewer_never_gets_the_screen_for_itself() -> None:
    exclusive = NO_PASSWORD[:-1] + b"\x00"
    assert ViewOnlyFilter().feed(exclusive) == NO_PASSWORD


def test_longer_pointer_events_are_never_agreed_on() -> None:
    asked = encodings(7, Encoding.EXTENDED_MOUSE_BUTTONS, -239)
    assert ViewOnlyFilter().feed(NO_PASSWORD + asked) == NO_PASSWORD + encodings(7, -239)


def test_a_long_clipboard_is_not_kept_while_it_is_skipped() -> None:
    view_only = ViewOnlyFilter()
    view_only.feed(NO_PASSWORD + struct.pack("!B3xi", 6, 2**30))
    for _ in range(2**30 // 2**20):
        assert view_only.feed(bytes(2**20)) == b""
    assert view_only.feed(UPDATE_REQUEST) == UPDATE_REQUEST


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (b"RFB 003.003\n", "version"),
        (b"GET / HTTP/1.1\r\n", "version"),
        (VERSION + b"\x13", "security type 19"),
        (NO_PASSWORD + b"\x2a", "message type 42"),
        (NO_PASSWORD + b"\xff\x01\x00\x00", "QEMU message 1"),
        (NO_PASSWORD + struct.pack("!BxH", 2, 2000), "2000 encodings"),
        (NO_PASSWORD + struct.pack("!B3xIB", 248, 1, 65), "fence of 65 bytes"),
    ],
)
def test_what_cannot_be_followed_is_refused_for_good(stream: bytes, reason: str) -> None:
    view_only = ViewOnlyFilter()
    view_only.feed(stream)
    assert view_only.refusal is not None
    assert reason in view_only.refusal
    assert view_only.feed(UPDATE_REQUEST) == b""
