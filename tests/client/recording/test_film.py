"""A recording is read to where it breaks off."""

from __future__ import annotations

from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.recording.film import Film
from support.recordings import HEIGHT, WIDTH, filled, played, write


def test_screen_is_what_was_shown_at_each_record(tmp_path: Path) -> None:
    film = Film(write(tmp_path / "a.plrec", [filled(0.0, 10), filled(0.5, 200, width=4)]))
    seen = [(record.at, int(film.screen[0, 0, 0]), int(film.screen[0, 5, 0])) for record in film.records()]
    assert seen == [(0.0, 0, 0), (0.5, 10, 10)]
    assert film.screen[0, (0, 5), 0].tolist() == [200, 10]
    assert film.screen.shape == (HEIGHT, WIDTH, 4)
    assert film.damage is None


def test_recording_that_was_cut_gives_what_is_readable_and_says_so(tmp_path: Path) -> None:
    cut = write(tmp_path / "cut.plrec", [filled(0.0, 10), *played()[1:]], cut=40)
    film = Film(cut)
    assert 0 < len(list(film.records())) < len(played())
    assert film.damage is not None


@pytest.mark.parametrize("content", [b"", b"hello, this is no recording"])
def test_other_files_are_refused_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.plrec"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"is no recording.*pluriverse-server record"):
        Film(path)


def test_file_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't be read"):
        Film(tmp_path / "none.plrec")
