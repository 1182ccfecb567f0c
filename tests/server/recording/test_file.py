"""A recording's file: what was written is read, whole, cut or damaged; and it can be written anew, and smaller."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pluriverse_protocol.events import KeyEvent
from pluriverse_protocol.recordings import Header, Input, MalformedRecording, Record, Said, TruncatedRecording, Update
from pluriverse_protocol.rfb.raw_updates import raw_update
from pluriverse_server.recording.file import RecordingFile, compact, open_recording, partial_path
from pluriverse_server.recording.keep import COARSE, OFTEN, SELDOM, RegionKeeper, Rest, blit
from pluriverse_server.recording.replay import Replay
from support.full_disk import files_of_at_most

WIDTH, HEIGHT = 64, 40
HEADER = Header("toy", "1.0.0", "toy.First-v0", WIDTH, HEIGHT, 60.0, 0.0)
REGION = (8, 8, 16, 16)


def records(count: int) -> list[Record]:
    """Pictures of noise, a second apart, each with something said and pressed."""
    noise = np.random.default_rng(1)
    found: list[Record] = []
    for index in range(count):
        pixels = noise.integers(256, size=(HEIGHT, WIDTH, 4), dtype=np.uint8)
        found.append(Update(float(index), raw_update([((0, 0, WIDTH, HEIGHT), pixels.tobytes())])))
        found.append(Said(float(index), {"count": index}))
        found.append(Input(float(index), KeyEvent(97, index % 2 == 0)))
    return found


def write(path: Path, wanted: list[Record]) -> Path:
    file = RecordingFile(path, HEADER)
    for record in wanted:
        file.write(record)
    file.close()
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    header, found = open_recording(write(tmp_path / "a.plrec", records(5)))
    assert header == HEADER
    assert list(found) == records(5)


def test_file_that_is_a_bomb_is_unpacked_piece_by_piece(tmp_path: Path) -> None:
    path = write(tmp_path / "a.plrec", [Said(0.0, {"a": "x" * 1_000_000})] * 300)
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
    path = write(tmp_path / "a.plrec", records(20))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    _, found = open_recording(path)
    read: list[Record] = []
    with pytest.raises(TruncatedRecording):
        read.extend(found)
    assert read == records(20)[: len(read)]


def test_compacting_keeps_every_record_of_one_that_is_cut_and_makes_it_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "a.plrec", records(20))
    path.write_bytes(path.read_bytes()[:-100])
    compact(path)
    replay = Replay(path)
    assert len(list(replay.moments())) >= 50
    assert replay.ended is None
    assert [file.name for file in tmp_path.iterdir()] == ["a.plrec"]


def test_one_that_is_damaged_is_not_compacted_and_stays_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.plrec", records(20))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(MalformedRecording):
        compact(path)
    assert path.read_bytes() == data
    assert [file.name for file in tmp_path.iterdir()] == ["a.plrec"]


def test_beside_the_regions_all_of_the_picture_is_as_it_was_five_times_a_second_and_where_it_stands_still() -> None:
    noise = np.random.default_rng(1)
    keeper, kept = RegionKeeper(WIDTH, HEIGHT, [REGION], OFTEN), np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    x, y, width, height = REGION
    place = np.s_[y : y + height, x : x + width, :3]
    exact: list[float] = []
    picture = kept
    for frame in range(30):
        at = frame / 32
        picture = noise.integers(256, size=(HEIGHT, WIDTH, 4), dtype=np.uint8)
        for part in keeper.keep(Update(at, raw_update([((0, 0, WIDTH, HEIGHT), picture.tobytes())]))):
            assert isinstance(part, Update)
            blit(kept, part.message)
        assert np.array_equal(kept[place], picture[place])
        if np.array_equal(kept[..., :3], picture[..., :3]):
            exact.append(at)
    assert exact == [count * 7 / 32 for count in range(5)]
    # The last picture stays: what is missing of it comes with whatever is recorded next, or when nothing is.
    assert list(keeper.catch_up(0.98)) == []
    (said,) = [part for part in keeper.keep(Said(1.1, {})) if isinstance(part, Update)]
    blit(kept, said.message)
    assert np.array_equal(kept[..., :3], picture[..., :3])
    assert list(keeper.catch_up(2.0)) == []


def test_of_a_game_whose_pictures_take_too_much_the_rest_is_kept_seldom_and_coarsely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pluriverse_server.recording.keep.HEAD_START_BYTES", 10_000)
    noise = np.random.default_rng(1)
    file = RecordingFile(tmp_path / "a.plrec", HEADER)
    keeper = RegionKeeper(WIDTH, HEIGHT, [REGION], Rest(0.25, OFTEN.colours, 3_500), lambda: file.bytes)
    kept = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    x, y, width, height = REGION
    place = np.s_[y : y + height, x : x + width, :3]
    whole: dict[float, bool] = {}
    for at in np.arange(0, 20, 0.25).tolist():
        picture = noise.integers(256, size=(HEIGHT, WIDTH, 4), dtype=np.uint8)
        for part in keeper.keep(Update(at, raw_update([((0, 0, WIDTH, HEIGHT), picture.tobytes())]))):
            assert isinstance(part, Update)
            blit(kept, part.message)
            file.write(part)
            file.flush()
        assert np.array_equal(kept[place], picture[place])
        if np.array_equal(kept[30:].view("<u4") & COARSE, picture[30:].view("<u4") & COARSE):
            whole[at] = np.array_equal(kept[..., :3], picture[..., :3])
    # Regions of noise leave room for few pictures.
    assert list(whole)[:2] == [0, 0.25]
    assert whole[0]
    assert not all(whole.values())
    assert max(np.diff(list(whole))) == SELDOM.every_s
    file.close()


def test_one_that_is_unfinished_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.plrec"
    file = RecordingFile(path, HEADER)
    file.write(records(1)[1])
    file.flush()
    file.abandon()
    left = partial_path(path).read_bytes()
    with pytest.raises(FileExistsError):
        RecordingFile(path, HEADER)
    assert partial_path(path).read_bytes() == left
    _, found = open_recording(partial_path(path))
    assert next(found) == records(1)[1]


def test_nothing_is_left_of_one_for_whose_beginning_the_disk_has_no_room(tmp_path: Path) -> None:
    with files_of_at_most(1), pytest.raises(OSError, match="File too large"):
        RecordingFile(tmp_path / "a.plrec", HEADER)
    assert list(tmp_path.iterdir()) == []
