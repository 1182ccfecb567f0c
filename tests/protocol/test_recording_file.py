"""A recording's file: what was written is read, whole, cut or damaged."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pluriverse_protocol.recording_file import RecordingFile, open_recording, partial_path
from pluriverse_protocol.recordings import Header, Record, Said, TruncatedRecording
from support.full_disk import files_of_at_most
from support.recorded import noise, recorded

WIDTH, HEIGHT = 64, 40
HEADER = Header("toy", "1.0.0", "toy.First-v0", WIDTH, HEIGHT, 60.0, 0.0)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    header, found = open_recording(recorded(tmp_path / "a.plrec", noise(HEADER, 5), HEADER))
    assert header == HEADER
    assert list(found) == noise(HEADER, 5)


def test_file_that_is_a_bomb_is_unpacked_piece_by_piece(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.plrec", [Said(0.0, {"a": "x" * 1_000_000})] * 300, HEADER)
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    _, found = open_recording(path)
    assert sum(1 for _ in found) == 300
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150_000_000


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0.3, 0.999))
def test_of_one_that_is_cut_all_that_can_be_read_is_given_before_the_error(tmp_path: Path, share: float) -> None:
    path = recorded(tmp_path / "a.plrec", noise(HEADER, 20), HEADER)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    _, found = open_recording(path)
    read: list[Record] = []
    with pytest.raises(TruncatedRecording):
        read.extend(found)
    assert read == noise(HEADER, 20)[: len(read)]


def test_one_that_is_unfinished_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.plrec"
    file = RecordingFile(path, HEADER)
    file.write(noise(HEADER, 1)[1])
    file.flush()
    file.abandon()
    left = partial_path(path).read_bytes()
    with pytest.raises(FileExistsError):
        RecordingFile(path, HEADER)
    assert partial_path(path).read_bytes() == left
    _, found = open_recording(partial_path(path))
    assert next(found) == noise(HEADER, 1)[1]


def test_nothing_is_left_of_one_for_whose_beginning_the_disk_has_no_room(tmp_path: Path) -> None:
    with files_of_at_most(1), pytest.raises(OSError, match="File too large"):
        RecordingFile(tmp_path / "a.plrec", HEADER)
    assert list(tmp_path.iterdir()) == []
