"""A recording's pictures in any order, and what was told of them."""

import io
from pathlib import Path

import pytest
from PIL import Image
from pluriverse_authoring.frames import WHOLE_EVERY, RecordedFrames, changes, events
from support.recorded import FRAMES, HEIGHT, WIDTH, colour_of, earn, picture, read, recorded, write_recording


@pytest.mark.parametrize(
    "frame", [0, 1, WHOLE_EVERY - 1, WHOLE_EVERY, WHOLE_EVERY + 1, 2 * WHOLE_EVERY + 7, FRAMES - 1]
)
def test_any_picture_is_as_it_was_recorded(tmp_path: Path, frame: int) -> None:
    film = RecordedFrames(write_recording(tmp_path / "first.plrec"))
    image = Image.open(io.BytesIO(film.png(frame)))
    assert image.size == (WIDTH, HEIGHT)
    half = WIDTH // 2 if frame % 2 else 0
    assert image.getpixel((half + 5, 50)) == colour_of(frame)
    if frame:
        assert image.getpixel((WIDTH // 2 - half + 5, 50)) == colour_of(frame - 1)
    with pytest.raises(IndexError):
        film.png(FRAMES)
    film.close()


def test_changes_of_readings_have_the_times_of_their_pictures(tmp_path: Path) -> None:
    film = RecordedFrames(write_recording(tmp_path / "first.plrec"))
    assert changes(film)["score"] == [
        (0.0, 0.0, 0.0, "ok"),
        (1.0, 1.0, 1.0, "ok"),
        (2.0, 1.0, 8.0, "implausible"),
        (3.0, 3.0, 3.0, "ok"),
        (12.0, 0.0, 0.0, "ok"),
    ]
    film.close()


def test_what_was_told_is_of_the_picture_that_was_there_not_of_the_next_where_the_screen_stands_still(
    tmp_path: Path,
) -> None:
    records = [picture(0.5), read(0.49, 1), picture(1.0), read(1.03, 2), earn(1.03, 5), read(2.9, 3), picture(3.0)]
    film = RecordedFrames(recorded(tmp_path / "still.plrec", records))
    assert [(at, value) for at, value, _, _ in changes(film)["score"]] == [(0.5, 1), (1.0, 2), (1.0, 3)]
    assert [event["at"] for event in events(film)] == [1.0]
    film.close()
    # What was told before the first picture is of that; without any picture the time is as it was told.
    film = RecordedFrames(recorded(tmp_path / "late.plrec", [earn(0.2, 5), picture(1.0)]))
    assert [event["at"] for event in events(film)] == [1.0]
    film.close()
    film = RecordedFrames(recorded(tmp_path / "blind.plrec", [earn(0.25, 5)]))
    assert [event["at"] for event in events(film)] == [0.25]
    film.close()


def test_changes_of_a_region_are_found_without_anything_that_reads_it(tmp_path: Path) -> None:
    film = RecordedFrames(write_recording(tmp_path / "first.plrec"))
    # The left half is drawn in every other frame.
    assert [at for at, _, _ in film.changes_of([0, 0, 10, 10])][:3] == [0.0, 0.2, 0.4]
    assert [at for at, _, _ in film.changes_of([0, 0, WIDTH, HEIGHT])] == film.times
    film.close()


def test_a_recording_that_was_cut_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "first.plrec")
    path.write_bytes(path.read_bytes()[:-40])
    film = RecordedFrames(path)
    assert film.damage
    if film.times:
        assert film.png(len(film.times) - 1)
    film.close()
