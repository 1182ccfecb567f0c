from pathlib import Path

import pytest
from msgspec.structs import replace
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import ConfigurationError
from pluriverse.recording.demonstrations import Demonstration, demonstrations
from pluriverse.recording.recorded_screen import RecordedScreen
from support.recordings import HEADER, HEIGHT, WIDTH, begin, end, filled, played, ready, write


def episodes(path: Path, fps: float | None = None, size: tuple[int, int] | None = None) -> list[Demonstration]:
    return list(demonstrations(RecordedScreen(path), fps=fps, options=PictureOptions(size=size), kind=None))


def test_each_step_has_the_picture_before_it_what_was_done_and_what_that_earned(tmp_path: Path) -> None:
    (episode,) = episodes(write(tmp_path / "a.plrec", played()))
    # Ten steps a second from 0.1 on: right is down in the steps from 0.2 to 0.5, left in the one from 0.6.
    assert episode.actions == [0, 2, 2, 2, 0, 1, 0, 0, 0, 0]
    assert episode.rewards == [0, 0, 1, 0, 0, 0, 0, 2, 0, 0]
    assert [int(picture[0, 0, 2]) for picture in episode.observations] == [10] * 3 + [200] * 8
    assert episode.observations[0].shape == (HEIGHT, WIDTH, 3)
    assert (episode.env_id, episode.seed, episode.terminated, episode.truncated) == ("toy.Toy-v0", 7, True, False)


def test_fewer_steps_a_second_keep_all_reward(tmp_path: Path) -> None:
    (episode,) = episodes(write(tmp_path / "a.plrec", played()), fps=2)
    assert sum(episode.rewards) == 3
    assert len(episode.observations) == len(episode.actions) + 1 == 3


def test_pictures_are_as_large_as_asked_for(tmp_path: Path) -> None:
    (episode,) = episodes(write(tmp_path / "a.plrec", played()), size=(4, 6))
    assert episode.shape == episode.observations[0].shape == (4, 6, 3)


def test_episode_that_the_recording_cuts_short_is_truncated_and_one_that_never_ran_is_left_out(tmp_path: Path) -> None:
    records = [filled(0, 1), begin(0), end(0.1), begin(0.2, 2), ready(0.3, 2), filled(0.9, 2)]
    (episode,) = episodes(write(tmp_path / "a.plrec", records))
    assert (episode.terminated, episode.truncated, episode.reason) == (False, True, "the recording ended")


def test_recording_of_regions_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--keep all"):
        episodes(write(tmp_path / "a.plrec", played(), replace(HEADER, regions=((0, 0, 4, 4),))))


def test_spaces_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    records = [begin(0, spaces={"discrete": 3}), ready(0.1)]
    with pytest.raises(ConfigurationError, match="spaces can't be read"):
        episodes(write(tmp_path / "a.plrec", records))
