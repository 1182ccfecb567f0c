"""Recordings: what is written is what is read, however it is cut; what is damaged is named, what was before kept."""

import contextlib
import json
import struct
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pluriverse_protocol.errors import LocalProtocolError
from pluriverse_protocol.events import MAX_BUTTONMASK, JoystickEvent, KeyEvent, PointerEvent
from pluriverse_protocol.limits import MAX_KEYSYM
from pluriverse_protocol.pads import PLACES
from pluriverse_protocol.recordings import (
    MAX_SECONDS,
    Header,
    Input,
    MalformedRecording,
    Record,
    RecordingReader,
    RecordingWriter,
    Said,
    TruncatedRecording,
    Update,
)
from pluriverse_protocol.rfb.raw_updates import raw_update, rectangles
from support.wire import json_objects, relative_pointer_events

WIDTH, HEIGHT = 12, 7
HEADER = Header("toy", "1.2.3", "toy.First-v0", WIDTH, HEIGHT, 60.0, 1_700_000_000.25, ((1, 2, 3, 4),))


@st.composite
def updates(draw: st.DrawFn) -> bytes:
    parts: list[tuple[tuple[int, int, int, int], bytes]] = []
    for _ in range(draw(st.integers(0, 3))):
        x, y = draw(st.integers(0, WIDTH - 1)), draw(st.integers(0, HEIGHT - 1))
        width, height = draw(st.integers(1, WIDTH - x)), draw(st.integers(1, HEIGHT - y))
        size = width * height * 4
        parts.append(((x, y, width, height), draw(st.binary(min_size=size, max_size=size))))
    return raw_update(parts)


EVENTS = (
    st.builds(KeyEvent, st.integers(1, MAX_KEYSYM), st.booleans())
    | st.builds(PointerEvent, st.integers(0, 65535), st.integers(0, 65535), st.integers(0, MAX_BUTTONMASK))
    | relative_pointer_events
    | st.builds(JoystickEvent, st.sampled_from([*PLACES, f"Joystick{'x' * 32}Event"]), st.floats(-1e300, 1e300))
)
AT = st.floats(0, MAX_SECONDS)
RECORDS = st.lists(
    st.builds(Update, AT, updates()) | st.builds(Said, AT, json_objects) | st.builds(Input, AT, EVENTS),
    max_size=8,
).map(lambda records: sorted(records, key=lambda record: record.at))


def written(records: Sequence[Record], header: Header = HEADER) -> bytes:
    writer = RecordingWriter(header)
    return b"".join([writer.begin(), *map(writer.write, records)])


def read(data: bytes) -> tuple[RecordingReader, list[Record]]:
    """All records up to the end, or to where it breaks; the reader says which."""
    reader = RecordingReader()
    reader.receive(data)
    return reader, take(reader)


def take(reader: RecordingReader) -> list[Record]:
    records: list[Record] = []
    try:
        while (record := reader.next_record()) is not None:
            records.append(record)
    except MalformedRecording:
        pass
    return records


def record(kind: bytes, at: float, payload: bytes) -> bytes:
    return struct.pack(">cdI", kind, at, len(payload)) + payload


@given(RECORDS)
def test_what_is_written_is_read(records: list[Record]) -> None:
    reader, found = read(written(records))
    reader.end()
    assert reader.header == HEADER
    assert found == records


@given(RECORDS, st.lists(st.integers(1, 200), min_size=1))
def test_it_may_come_in_any_pieces(records: list[Record], sizes: list[int]) -> None:
    data = written(records)
    reader = RecordingReader()
    found: list[Record] = []
    start = 0
    while start < len(data):
        size = sizes[len(found) % len(sizes)]
        reader.receive(data[start : start + size])
        start += size
        found += take(reader)
    reader.end()
    assert found == records


@given(RECORDS, st.data())
def test_of_one_that_is_cut_all_that_came_before_is_kept(records: list[Record], data: st.DataObject) -> None:
    whole = written(records)
    cut = data.draw(st.integers(0, len(whole)))
    reader, found = read(whole[:cut])
    assert found == records[: len(found)]
    ends = [len(written(records[:count])) for count in range(len(records) + 1)]
    if cut in ends:
        reader.end()
        return
    with pytest.raises(TruncatedRecording) as caught:
        reader.end()
    assert caught.value.offset == max((end for end in ends if end < cut), default=0)


@given(RECORDS, st.data())
def test_damage_is_a_named_error_or_another_recording(records: list[Record], data: st.DataObject) -> None:
    whole = bytearray(written(records))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    reader, found = read(bytes(whole))
    assert len(found) <= len(whole) // 13
    with contextlib.suppress(MalformedRecording):
        reader.end()


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (record(b"X", 1.0, b""), "kind b'X'"),
        (record(b"U", float("nan"), raw_update([])), "its time is nan"),
        (record(b"U", MAX_SECONDS + 1, raw_update([])), "expected"),
        (record(b"U", 1.0, raw_update([]) + b"?"), "an update of 5 bytes, its rectangles have 4"),
        (record(b"U", 1.0, b"\0\0\0\1" + struct.pack(">HHHHi", 0, 0, 1, 1, 7) + b"1234"), "encoding 7"),
        (record(b"U", 1.0, raw_update([((10, 0, 3, 1), bytes(12))])), "on a screen of 12x7"),
        (struct.pack(">cdI", b"U", 1.0, 2**31), "expected at most"),
        (record(b"S", 1.0, b"[]"), "expected a JSON object"),
        (record(b"K", 1.0, b"\0\0\0\0\1"), "keysym 0x0"),
        (record(b"K", 1.0, b"\0"), "1 bytes of the kind b'K'"),
        (record(b"P", 1.0, b"\0" * 4 + b"\2\0"), "the buttons 0x200, at most 0x1ff"),
    ],
)
def test_each_kind_of_damage_is_told_with_its_place(damage: bytes, complaint: str) -> None:
    before = [Input(1.0, KeyEvent(97, True))]
    whole = written(before)
    reader = RecordingReader()
    reader.receive(whole + damage + record(b"S", 2.0, b"{}"))
    assert reader.next_record() == before[0]
    with pytest.raises(MalformedRecording, match="record 2") as caught:
        reader.next_record()
    assert complaint in str(caught.value)
    assert (caught.value.record, caught.value.offset) == (2, len(whole))
    with pytest.raises(MalformedRecording):
        reader.end()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": 2}, "a later version"),
        ({"width": 0}, "'width'"),
        ({"regions": [[0, 0, 13, 1]]}, "isn't on the screen"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(change: dict[str, Any], complaint: str) -> None:
    document = json.loads(written([])[13:])
    reader = RecordingReader()
    reader.receive(record(b"H", 0.0, json.dumps(document | change).encode()))
    with pytest.raises(MalformedRecording, match="record 0") as caught:
        reader.next_record()
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        Update(2.0, raw_update([((0, 0, 13, 1), bytes(52))])),
        Said(2.0, {"x": float("nan")}),
        Said(2.0, {"x": "y" * 2**20}),
        Input(2.0, KeyEvent(0, True)),
        Input(2.0, PointerEvent(0, 0, 512)),
        Said(0.5, {}),
    ],
)
def test_nothing_is_written_that_would_not_be_read(bad: Record) -> None:
    writer = RecordingWriter(HEADER)
    data = writer.begin() + writer.write(Said(1.0, {}))
    with pytest.raises(LocalProtocolError, match="can't be recorded"):
        writer.write(bad)
    reader, found = read(data + writer.write(Said(1.0, {"after": 1})))
    reader.end()
    assert found == [Said(1.0, {}), Said(1.0, {"after": 1})]


def test_an_update_says_where_its_pixels_are() -> None:
    message = raw_update([((1, 2, 2, 1), b"abcdefgh"), ((0, 0, 1, 1), b"ijkl")])
    first, second = rectangles(message, WIDTH, HEIGHT)
    assert (first.x, first.y, first.width, first.height) == (1, 2, 2, 1)
    assert message[first.offset : first.offset + 8] == b"abcdefgh"
    assert message[second.offset :] == b"ijkl"


def test_a_reader_keeps_no_more_than_it_needs() -> None:
    writer = RecordingWriter(replace(HEADER, width=400, height=400, regions=()))
    reader = RecordingReader()
    reader.receive(writer.begin())
    picture = raw_update([((0, 0, 400, 400), bytes(640_000))])
    for count in range(20):
        reader.receive(writer.write(Update(float(count), picture)))
        assert reader.next_record() == Update(float(count), picture)
    reader.receive(b"?")
    with pytest.raises(TruncatedRecording) as caught:
        reader.end()
    assert caught.value.record == 21
    assert caught.value.offset > 20 * 640_000
