"""Recordings become films."""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from pluriverse.recording.export import Export
from support.recordings import HEIGHT, WIDTH, played, write


def test_film_shows_every_frame_of_the_recording(tmp_path: Path) -> None:
    told: list[str] = []
    path = write(tmp_path / "a.plrec", played())
    Export([path], fps=None, size=None, kind=None, report=told.append).to_video(tmp_path / "film.mp4")
    (written,) = (Path(line.partition(": ")[0]) for line in told)
    assert "12 pictures" in told[0]
    if written.suffix == ".png":
        with Image.open(written) as film:
            assert film.size == (WIDTH, HEIGHT)
            assert getattr(film, "n_frames", 1) == 12
    assert written.stat().st_size > 0


def test_several_recordings_become_films_named_after_them(tmp_path: Path) -> None:
    told: list[str] = []
    paths = [write(tmp_path / f"{name}.plrec", played()) for name in ("one", "two")]
    Export(paths, fps=5, size=None, kind=None, report=told.append).to_video(tmp_path / "film")
    assert sorted(path.stem for path in tmp_path.glob("film-*")) == ["film-one", "film-two"]


def test_recordings_of_the_same_name_become_films_that_are_numbered(tmp_path: Path) -> None:
    told: list[str] = []
    paths = [tmp_path / folder / "1.plrec" for folder in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        write(path, played())
    Export(paths, fps=5, size=None, kind=None, report=told.append).to_video(tmp_path / "film")
    assert sorted(path.stem for path in tmp_path.glob("film-*")) == ["film-1", "film-2"]
    assert [line.rpartition(" of ")[2] for line in told] == [str(path) for path in paths]
