"""The WebSocket in C makes the same of the same bytes as its twin in Python, however they are cut or damaged."""

import ctypes
import enum
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pluriverse_protocol.rfb.errors import BadWebSocket
from pluriverse_protocol.rfb.web_stream import MAX_CONTROL_BYTES, WebStream
from support.rfb_damage import cut
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

NATIVE = Path(__file__).parents[3] / "client" / "native"

# As web_stream.h has them.
MAX_HEAD: Final = 14


class Kind(enum.IntEnum):
    NOTHING = 0
    BYTES = 1
    ASKED = 2
    CLOSED = 3
    INVALID = 4


class Stream(ctypes.Structure):
    _fields_ = [
        ("left", ctypes.c_uint64),
        ("opcode", ctypes.c_int),
        ("head", ctypes.c_uint8 * MAX_HEAD),
        ("head_size", ctypes.c_size_t),
        ("control", ctypes.c_uint8 * MAX_CONTROL_BYTES),
        ("control_size", ctypes.c_size_t),
    ]


class Part(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("web_stream") / "web_stream.so"
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    built = subprocess.run(
        ["gcc", *flags, str(NATIVE / "web_stream.c"), "-o", str(path)], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    loaded = ctypes.CDLL(str(path))
    loaded.web_stream_read.restype = loaded.web_stream_write.restype = ctypes.c_size_t
    loaded.web_stream_read.argtypes = [
        ctypes.POINTER(Stream),
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.POINTER(Part),
    ]
    loaded.web_stream_write.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    return loaded


@dataclass
class Outcome:
    """What was made of a stream: its bytes, the pings that are to be answered, and how it ended."""

    received: bytes = b""
    asked: list[bytes] = field(default_factory=list[bytes])
    closed: str | None = None
    invalid: bool = False


def by_c(library: ctypes.CDLL, pieces: Sequence[bytes]) -> Outcome:
    # As connection_open leaves it.
    stream, part, outcome = Stream(opcode=Opcode.BINARY), Part(), Outcome()
    for piece in pieces:
        while piece and outcome.closed is None and not outcome.invalid:
            read = library.web_stream_read(stream, piece, len(piece), part)
            assert 0 < read <= len(piece)
            said = ctypes.string_at(part.bytes, part.size) if part.size else b""
            match Kind(part.kind):
                case Kind.NOTHING:
                    pass
                case Kind.BYTES:
                    outcome.received += said
                case Kind.ASKED:
                    outcome.asked.append(said)
                case Kind.CLOSED:
                    outcome.closed = said.decode(errors="replace")
                case Kind.INVALID:
                    outcome.invalid = True
            piece = piece[read:]  # noqa: PLW2901 - what is left of it
    return outcome


def by_python(pieces: Sequence[bytes]) -> Outcome:
    stream, outcome = WebStream(masks=True), Outcome()
    try:
        for piece in pieces:
            outcome.received += stream.feed(piece)
    except BadWebSocket:
        outcome.invalid = True
    outcome.closed = stream.closed
    server = ServerProtocol(state=State.OPEN)
    server.receive_data(stream.take_answers())
    answers = [frame for frame in server.events_received() if isinstance(frame, Frame)]
    outcome.asked = [bytes(answer.data) for answer in answers if answer.opcode is Opcode.PONG]
    return outcome


def bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def message(opcode: int, payload: bytes, *, first: int = 0x80, masked: int = 0, long: int = 0) -> bytes:
    """A message of any bits; ``long``: its length takes more bytes than it has to."""
    size = len(payload)
    if size <= 125 and long == 0:
        head = bytes([first | opcode, masked | size])
    elif size < 2**16 and long < 2:
        head = bytes([first | opcode, masked | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([first | opcode, masked | 127]) + size.to_bytes(8, "big")
    return head + payload


def messages(sizes: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Valid ones; among them few that end the stream."""
    data = st.builds(message, st.sampled_from((0, 2)), sizes, first=st.sampled_from((0x80, 0)), long=st.integers(0, 2))
    control = st.binary(max_size=MAX_CONTROL_BYTES)
    return data | st.builds(message, st.sampled_from((9, 9, 10, 8)), control, long=st.integers(0, 2))


small = st.binary(max_size=300)
streams = st.lists(messages(small), max_size=6).map(b"".join)
large_streams = st.lists(messages(st.sampled_from([125, 126, 65535, 65536]).map(bytes)), max_size=4).map(b"".join)
wild = st.builds(
    message,
    st.sampled_from((0, 2, 8, 9, 10)) | st.integers(0, 15),
    st.binary(max_size=130),
    first=st.sampled_from((0x80, 0x00, 0xC0, 0xA0, 0x90)),
    masked=st.sampled_from((0, 0x80)),
    long=st.integers(0, 2),
)
chances = st.integers(0, 2**32).map(random.Random)


@given(streams | large_streams, chances)
def test_valid_streams_give_the_same(library: ctypes.CDLL, stream: bytes, chance: random.Random) -> None:
    expected = by_python(cut(stream, chance))
    assert not expected.invalid
    assert by_c(library, cut(stream, chance)) == expected


@given(streams, wild, st.binary(max_size=20), chances)
@example(b"", message(9, b"", first=0xC0), b"", random.Random(1))
@example(b"", message(8, b"", first=0x90), b"", random.Random(1))
@example(b"", message(2, b"", masked=0x80), b"", random.Random(1))
def test_wild_streams_give_the_same_up_to_the_same_error(
    library: ctypes.CDLL, stream: bytes, last: bytes, behind: bytes, chance: random.Random
) -> None:
    assert_the_same(library, stream + last + behind, chance)


@given(st.binary(max_size=400), chances)
def test_noise_gives_the_same_up_to_the_same_error(library: ctypes.CDLL, noise: bytes, chance: random.Random) -> None:
    assert_the_same(library, noise, chance)


def assert_the_same(library: ctypes.CDLL, stream: bytes, chance: random.Random) -> None:
    # In Python an error takes along what came in the same piece before it.
    expected = by_python(bytewise(stream))
    assert by_c(library, cut(stream, chance)) == expected
    in_pieces = by_python(cut(stream, chance))
    assert in_pieces.invalid == expected.invalid
    assert in_pieces.closed == expected.closed
    assert in_pieces.asked == expected.asked
    assert expected.received.startswith(in_pieces.received)


@given(small | st.sampled_from([125, 126, 65535, 65536, 70_000]).map(bytes), chances)
def test_what_c_writes_a_server_reads(library: ctypes.CDLL, data: bytes, chance: random.Random) -> None:
    out = ctypes.create_string_buffer(len(data) + MAX_HEAD)
    size = library.web_stream_write(out, Opcode.BINARY, data, len(data))
    written = out.raw[:size]
    server = WebStream(masks=False)
    assert b"".join(map(server.feed, cut(written, chance))) == data
    assert server.left == 0
    assert len(written) == len(WebStream(masks=True).wrap(data))
    known = ServerProtocol(state=State.OPEN)
    known.receive_data(written)
    assert known.events_received() == [Frame(Opcode.BINARY, data)]
