import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.control_frames import ControlFrames
from pluriverse_protocol.limits import MAX_CONTROL_FRAMES_AT_ONCE
from pluriverse_protocol.rfb.errors import BadWebSocket, LimitExceeded
from pluriverse_protocol.rfb.web_stream import WebStream
from websockets.frames import Close, Frame, Opcode

messages = st.lists(st.binary(max_size=300) | st.integers(120, 70_000).map(bytes), max_size=5)
cuts = st.lists(st.integers(1, 400), max_size=30)


def fed(stream: WebStream, data: bytes, pieces: list[int]) -> bytes:
    """What a stream makes of all this, cut into pieces."""
    received = b""
    for size in [*pieces, len(data)]:
        received += stream.feed(data[:size])
        data = data[size:]
    return received


@pytest.mark.parametrize("to_server", [True, False])
@given(messages, cuts)
def test_bytes_arrive_as_they_were_sent(to_server: bool, sent: list[bytes], pieces: list[int]) -> None:
    sender, receiver = WebStream(masks=to_server), WebStream(masks=not to_server)
    assert fed(receiver, b"".join(map(sender.wrap, sent)), pieces) == b"".join(sent)


def test_no_byte_beyond_a_message_has_to_be_fed() -> None:
    sender, receiver = WebStream(masks=False), WebStream(masks=True)
    first, second = sender.wrap(bytes(70_000)), sender.wrap(b"second")
    data = first + second
    while len(data) > len(second):
        wanted = receiver.wanted
        receiver.feed(data[:wanted])
        data = data[wanted:]
    assert data == second
    assert receiver.left == 0
    receiver.feed(second[:4])
    assert receiver.left == 4


@given(messages, cuts)
def test_a_known_library_says_the_same(sent: list[bytes], pieces: list[int]) -> None:
    library = [Frame(Opcode.BINARY, each).serialize(mask=True) for each in sent]
    assert fed(WebStream(masks=False), b"".join(library), pieces) == b"".join(sent)


def test_pings_are_answered_between_the_parts_of_a_message() -> None:
    stream = WebStream(masks=False)
    parts = [
        Frame(Opcode.BINARY, b"one ", fin=False),
        Frame(Opcode.PING, b"there?"),
        Frame(Opcode.CONT, b"whole"),
        Frame(Opcode.PONG, b"nobody asked"),
    ]
    assert stream.feed(b"".join(part.serialize(mask=True) for part in parts)) == b"one whole"
    assert stream.take_answers() == Frame(Opcode.PONG, b"there?").serialize(mask=False)
    assert stream.take_answers() == b""


def test_close_is_answered_and_nothing_comes_after_it() -> None:
    stream = WebStream(masks=True)
    goodbye = Frame(Opcode.CLOSE, Close(1001, "the VNC server was lost").serialize()).serialize(mask=False)
    sender = WebStream(masks=False)
    assert stream.feed(sender.wrap(b"last words") + goodbye + sender.wrap(b"more")) == b"last words"
    assert stream.closed == "the VNC server was lost"
    assert sender.feed(stream.take_answers()) == b""
    assert sender.closed == ""


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(b"\x82\x01x", id="without a mask"),
        pytest.param(b"\x81\x81mask!", id="text"),
        pytest.param(b"\xc2\x81mask!", id="compressed"),
        pytest.param(b"\x09\x80mask", id="half a ping"),
    ],
)
def test_what_nobody_agreed_on_is_refused(message: bytes) -> None:
    with pytest.raises(BadWebSocket):
        WebStream(masks=False).feed(message)


def test_control_messages_have_a_limit() -> None:
    with pytest.raises(BadWebSocket, match="126 bytes, at most 125"):
        WebStream(masks=True).feed(b"\x89\x7e\x00\x7e")


@pytest.mark.parametrize("frame", [Frame(Opcode.PING, b""), Frame(Opcode.PONG, b"late"), Frame(Opcode.BINARY, b"")])
def test_of_messages_without_bytes_of_the_stream_so_many_are_taken(frame: Frame) -> None:
    stream = WebStream(masks=False, control_frames=ControlFrames(lambda: 0.0))
    one = frame.serialize(mask=True)
    said = Frame(Opcode.BINARY, b"x").serialize(mask=True)
    assert stream.feed(one * MAX_CONTROL_FRAMES_AT_ONCE + said * 1000) == b"x" * 1000
    with pytest.raises(LimitExceeded, match="more than 100 pings and pongs, and 10 a second"):
        stream.feed(one)


@given(st.binary(max_size=400), st.booleans())
def test_whatever_comes_is_taken_or_refused(data: bytes, masks: bool) -> None:
    try:
        WebStream(masks=masks).feed(data)
    except BadWebSocket:
        return
