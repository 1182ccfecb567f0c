from pathlib import Path

import pytest
from PIL import Image
from pluriverse_eval.films import FPS, LAST_MS, write_film
from support.full_disk import files_of_at_most
from support.recordings import HEIGHT, WIDTH, played, write


def test_film_lasts_as_long_as_the_recording_and_fits_its_frame(tmp_path: Path) -> None:
    write_film(write(tmp_path / "a.plrec", played()), tmp_path / "a.webp")
    with Image.open(tmp_path / "a.webp") as film:
        assert film.size[0] <= 240
        assert film.size[1] <= 180
        assert film.size[0] / film.size[1] == pytest.approx(WIDTH / HEIGHT, rel=0.05)
        frames = getattr(film, "n_frames", 1)
    assert 1 <= frames <= 100
    assert LAST_MS >= 1000 / FPS


def test_no_half_of_a_film_is_left_on_a_full_disk(tmp_path: Path) -> None:
    recording = write(tmp_path / "a.plrec", played())
    with files_of_at_most(10), pytest.raises(OSError, match="File too large"):
        write_film(recording, tmp_path / "a.webp")
    assert not (tmp_path / "a.webp").exists()
