"""Replays: the moments at which a program's sources are read, of a recording that is made here."""

from pathlib import Path

import pytest
from pluriverse_authoring.recording.replay import Replay
from pluriverse_protocol.recording_file import RecordingFile
from pluriverse_protocol.recordings import Header, Record, Said, TruncatedRecording, Update
from pluriverse_protocol.rfb.raw_updates import raw_update
from support.recorded import recorded

HEADER = Header("toy", "1.0.0", "toy.First-v0", 8, 8, 10.0, 0.0)


def dot(at: float, shade: int) -> Update:
    return Update(at, raw_update([((1, 2, 1, 1), bytes([shade] * 4))]))


def replay(folder: Path, records: list[Record]) -> Replay:
    return Replay(recorded(folder / "a.plrec", records, HEADER))


def test_sources_are_read_in_each_frame_and_half_a_frame_after_when_something_is_drawn(tmp_path: Path) -> None:
    records: list[Record] = [dot(0.0, 1), dot(0.22, 2), dot(0.23, 3), Said(0.51, {})]
    cycles = [
        (moment.at, int(moment.frame[2, 1, 0]), moment.changed) for moment in replay(tmp_path, records).cycles(10)
    ]
    assert [at for at, _, _ in cycles] == pytest.approx([0.0, 0.1, 0.2, 0.25, 0.35, 0.45, 0.55])
    assert [shade for _, shade, _ in cycles] == [1, 1, 1, 3, 3, 3, 3]
    assert [bool(changed) for _, _, changed in cycles] == [True, False, False, True, False, False, False]


def test_what_was_said_belongs_to_the_first_cycle_after_it(tmp_path: Path) -> None:
    records: list[Record] = [Said(0.0, {"a": 1}), Said(0.04, {"b": 2}), Said(0.1, {"c": 3})]
    assert [moment.said for moment in replay(tmp_path, records).cycles(10)] == [
        [(0.0, {"a": 1})],
        [(0.04, {"b": 2}), (0.1, {"c": 3})],
    ]


def test_of_one_that_was_never_closed_just_the_end_is_missing(tmp_path: Path) -> None:
    file = RecordingFile(tmp_path / "a.plrec", HEADER)
    file.write(dot(0.0, 1))
    file.flush()
    file.abandon()
    cut = Replay(file.partial)
    assert [moment.at for moment in cut.moments()] == [0.0]
    assert isinstance(cut.ended, TruncatedRecording)
