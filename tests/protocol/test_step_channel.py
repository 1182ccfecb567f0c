import struct
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pluriverse_protocol import (
    Headers,
    MalformedEnvelope,
    RemoteProtocolError,
    UnknownMethod,
    decode_from_agent,
    encode,
)
from pluriverse_protocol.codec import Envelope
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent
from pluriverse_protocol.messages import (
    AgentStep,
    ErrorReply,
    FirstFrame,
    Pictured,
    Ping,
    Reset,
    ServerMessage,
    StepReply,
)
from pluriverse_protocol.sound import FRAME_BYTES
from pluriverse_protocol.step_channel import encode_step, pack, unpack
from support.wire import headers, server_messages

HEADERS = Headers(1, 2.5, 3)
EVENTS: list[Event] = [KeyEvent(65, True), PointerEvent(1, 2, 3), JoystickEvent("JoystickAxisXEvent", 0.25)]
FIRST = FirstFrame((2, 3, 1))
STEP = StepReply(7, 1.5, False, False, False, (2, 3, 3), "said", [1, 2], {"lives": 3})

HEARD = replace(STEP, sound=2)


def pixels_of(message: ServerMessage) -> bytes:
    """Any that fit the message."""
    if not isinstance(message, Pictured):
        return b""
    count = prod(message.frame)
    if isinstance(message, StepReply):
        if message.rows is not None:
            count = sum(message.rows[1::2]) * prod(message.frame[1:])
        count += FRAME_BYTES * (message.sound or 0)
    return (bytes(range(256)) * (count // 256 + 1))[:count]


def with_a_small_frame(message: ServerMessage) -> ServerMessage:
    """The largest that a message may name has 13 GB; nor has it much sound."""
    if not isinstance(message, Pictured):
        return message
    if isinstance(message, StepReply) and message.sound is not None:
        message = replace(message, sound=message.sound % 100)
    height, width, channels = message.frame
    if isinstance(message, StepReply) and message.rows is not None:
        message = replace(message, rows=(height % 100, 1) * (len(message.rows) // 2))
    return replace(message, frame=(height % 100 + 1, width % 100 + 1, channels))


@given(server_messages.map(with_a_small_frame), headers)
def test_whatever_servers_send_comes_back(message: ServerMessage, headers: Headers) -> None:
    pixels = pixels_of(message)
    envelope, arrived = unpack(pack(encode(message, headers), pixels))
    assert envelope == Envelope(message, headers)
    assert arrived == pixels


@pytest.mark.parametrize(
    ("message", "pixels"),
    [
        *((FIRST, b""), (FIRST, bytes(5)), (FIRST, bytes(7)), (STEP, bytes(6)), (HEARD, bytes(18))),
        (ErrorReply("no"), b"\0"),
    ],
)
def test_pixels_must_be_as_many_as_the_frame_has(message: ServerMessage, pixels: bytes) -> None:
    complaint = f"^{len(pixels)} bytes of pixels and sound, expected {len(pixels_of(message))}$"
    with pytest.raises(MalformedEnvelope, match=complaint):
        unpack(pack(encode(message, HEADERS), pixels))


@pytest.mark.parametrize("rows", [(0,), (0, 3), (2, 1), (0, 1, 1)])
def test_rows_must_be_of_the_frame(rows: tuple[int, ...]) -> None:
    with pytest.raises(MalformedEnvelope, match="expected pairs within 2 rows"):
        unpack(pack(encode(replace(STEP, rows=rows), HEADERS), bytes(18)))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "a binary message of 0 bytes"),
        (b"\0\0\1", "a binary message of 3 bytes"),
        (b"\0\0\0\3{}", "a text of 3 bytes in a binary message of 6"),
        (b"\xff\xff\xff\xff{}", "a text of 4294967295 bytes"),
        (bytes(4), "not JSON"),
        (pack("[]"), "expected a JSON object"),
        (struct.pack("!I", 1) + b"\xff", "not JSON"),
    ],
)
def test_data_that_is_no_such_message_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(MalformedEnvelope, match=complaint):
        unpack(data)


@given(st.integers(0, 2**31), st.integers(0, 2**31), st.integers(1, 1000), st.lists(st.sampled_from(EVENTS)))
def test_step_is_what_the_codec_makes_of_it(episode_id: int, n: int, frames: int, events: list[Event]) -> None:
    text = encode_step(1, 2.5, episode_id, n, frames, events)
    assert decode_from_agent(text) == Envelope(AgentStep(n, frames, tuple(events)), Headers(1, 2.5, episode_id))


@pytest.mark.parametrize("observation", ["[" * 70 + "]" * 70, "1" + "0" * 400, "1e400", "NaN"])
def test_answer_with_what_no_message_may_have_is_refused(observation: str) -> None:
    text = encode(STEP, HEADERS)
    assert '"observation":[1,2]' in text
    with pytest.raises(MalformedEnvelope):
        unpack(pack(text.replace('"observation":[1,2]', f'"observation":{observation}'), pixels_of(STEP)))


def test_what_agents_send_is_not_taken_from_servers() -> None:
    for message in (Ping(), Reset()):
        with pytest.raises(UnknownMethod):
            unpack(pack(encode(message, HEADERS)))


@given(st.binary())
def test_anything_at_all_is_a_message_or_malformed(data: bytes) -> None:
    for sent in (data, struct.pack("!I", len(data)) + data):
        with pytest.raises(RemoteProtocolError):
            unpack(sent)
