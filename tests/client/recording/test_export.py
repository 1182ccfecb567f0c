from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import pytest
from msgspec.structs import replace
from pluriverse.errors import ConfigurationError
from pluriverse.recording.export import Export
from pluriverse.recording.recorded_screen import RecordedScreen
from pluriverse_protocol.recordings import MAX_SECONDS
from support.recordings import HEADER, HEIGHT, WIDTH, begin, filled, played, ready, write


def test_film_shows_every_frame_of_the_recording(tmp_path: Path) -> None:
    told: list[str] = []
    path = write(tmp_path / "a.plrec", played())
    Export([path], fps=None, size=None, kind=None, report=told.append).to_video(tmp_path / "film.mp4")
    (written,) = (Path(line.partition(": ")[0]) for line in told)
    assert "12 pictures" in told[0]
    film = cv2.VideoCapture(str(written))
    assert film.get(cv2.CAP_PROP_FRAME_COUNT) == 12
    assert (film.get(cv2.CAP_PROP_FRAME_WIDTH), film.get(cv2.CAP_PROP_FRAME_HEIGHT)) == (WIDTH, HEIGHT)


@pytest.mark.parametrize("to", [Export.to_video, Export.to_minari])
def test_recording_that_says_nothing_for_a_day_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: Callable[[Export, Any], None]
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "out"))
    (tmp_path / "out").mkdir()
    header = replace(HEADER, fps=1000.0)
    records = [filled(0.0, 10), begin(0.0), ready(0.1), filled(0.2, 20), filled(MAX_SECONDS, 30)]
    path = write(tmp_path / "a.plrec", records, header)
    assert path.stat().st_size < 400
    exporter = Export([path], fps=None, size=None, kind=None, report=lambda _: None)
    with pytest.raises(ConfigurationError, match=r"a.plrec goes on to second 86400: over 1000000 pictures"):
        to(exporter, tmp_path / "out" / "film" if to is Export.to_video else "toy/day-v0")
    assert [each for each in (tmp_path / "out").rglob("*") if each.is_file()] == []


@pytest.mark.parametrize("picture", [[0, 0, 10**9, 10**9], [0, 0, 0, 4], [-1, 0, 4, 4], [1e300, 0, 4, 4], "all", 7, {}])
def test_picture_that_is_not_on_the_screen_is_refused(tmp_path: Path, picture: Any) -> None:
    said = {"report": "ready", "episode": 1, "picture": picture}
    recorded = RecordedScreen(write(tmp_path / "a.plrec", [filled(0.0, 10)]))
    if picture:
        with pytest.raises(ConfigurationError, match="the screen is 16x8"):
            recorded.box(said)
    else:
        assert recorded.box(said) == (0, 0, WIDTH, HEIGHT)


def test_recordings_of_the_same_name_become_films_that_are_numbered(tmp_path: Path) -> None:
    told: list[str] = []
    paths = [tmp_path / folder / "1.plrec" for folder in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        write(path, played())
    Export(paths, fps=5, size=None, kind=None, report=told.append).to_video(tmp_path / "film")
    assert sorted(path.stem for path in tmp_path.glob("film-*")) == ["film-1", "film-2"]
    assert [line.rpartition(" of ")[2] for line in told] == [str(path) for path in paths]
