"""What is kept of a picture beside regions, and of a recording that is written anew, and smaller."""

from pathlib import Path

import numpy as np
import pytest
from pluriverse_authoring.recording.keep import COARSE, OFTEN, SELDOM, RegionKeeper, Rest, blit, compact
from pluriverse_authoring.recording.replay import Replay
from pluriverse_protocol.recording_file import RecordingFile
from pluriverse_protocol.recordings import Header, MalformedRecording, Said, Update
from pluriverse_protocol.rfb.raw_updates import raw_update
from support.recorded import noise, recorded

WIDTH, HEIGHT = 64, 40
HEADER = Header("toy", "1.0.0", "toy.First-v0", WIDTH, HEIGHT, 60.0, 0.0)
REGION, PLACE = (8, 8, 16, 16), np.s_[8:24, 8:24, :3]


def test_compacting_keeps_every_record_of_one_that_is_cut_and_makes_it_whole(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.plrec", noise(HEADER, 20), HEADER)
    path.write_bytes(path.read_bytes()[:-100])
    compact(path)
    replay = Replay(path)
    assert len(list(replay.moments())) >= 50
    assert replay.ended is None
    assert [file.name for file in tmp_path.iterdir()] == ["a.plrec"]


def test_one_that_is_damaged_is_not_compacted_and_stays_as_it_is(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.plrec", noise(HEADER, 20), HEADER)
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
    exact: list[float] = []
    picture = kept
    for frame in range(30):
        at = frame / 32
        picture = noise.integers(256, size=(HEIGHT, WIDTH, 4), dtype=np.uint8)
        for part in keeper.keep(Update(at, raw_update([((0, 0, WIDTH, HEIGHT), picture.tobytes())]))):
            assert isinstance(part, Update)
            blit(kept, part.message)
        assert np.array_equal(kept[PLACE], picture[PLACE])
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
    monkeypatch.setattr("pluriverse_authoring.recording.keep.HEAD_START_BYTES", 10_000)
    noise = np.random.default_rng(1)
    file = RecordingFile(tmp_path / "a.plrec", HEADER)
    keeper = RegionKeeper(WIDTH, HEIGHT, [REGION], Rest(0.25, OFTEN.colours, 3_500), lambda: file.bytes)
    kept = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    whole: dict[float, bool] = {}
    for at in np.arange(0, 20, 0.25).tolist():
        picture = noise.integers(256, size=(HEIGHT, WIDTH, 4), dtype=np.uint8)
        for part in keeper.keep(Update(at, raw_update([((0, 0, WIDTH, HEIGHT), picture.tobytes())]))):
            assert isinstance(part, Update)
            blit(kept, part.message)
            file.write(part)
            file.flush()
        assert np.array_equal(kept[PLACE], picture[PLACE])
        if np.array_equal(kept[30:].view("<u4") & COARSE, picture[30:].view("<u4") & COARSE):
            whole[at] = np.array_equal(kept[..., :3], picture[..., :3])
    # Regions of noise leave room for few pictures.
    assert list(whole)[:2] == [0, 0.25]
    assert whole[0]
    assert not all(whole.values())
    assert max(np.diff(list(whole))) == SELDOM.every_s
    file.close()
