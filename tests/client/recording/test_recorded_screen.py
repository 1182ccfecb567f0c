from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.recording.recorded_screen import RecordedScreen
from support.recordings import HEIGHT, WIDTH, filled, played, write


def test_screen_is_what_was_shown_at_each_record(tmp_path: Path) -> None:
    recorded = RecordedScreen(write(tmp_path / "a.plrec", [filled(0.0, 10), filled(0.5, 200, width=4)]))
    seen = [(record.at, int(recorded.screen[0, 0, 0]), int(recorded.screen[0, 5, 0])) for record in recorded.records()]
    assert seen == [(0.0, 0, 0), (0.5, 10, 10)]
    assert recorded.screen[0, (0, 5), 0].tolist() == [200, 10]
    assert recorded.screen.shape == (HEIGHT, WIDTH, 4)
    assert recorded.damage is None


def test_recording_that_was_cut_gives_what_is_readable_and_says_so(tmp_path: Path) -> None:
    cut = write(tmp_path / "cut.plrec", [filled(0.0, 10), *played()[1:]], cut=40)
    recorded = RecordedScreen(cut)
    assert 0 < len(list(recorded.records())) < len(played())
    assert recorded.damage is not None


@pytest.mark.parametrize("content", [b"", b"hello, this is no recording"])
def test_other_files_are_refused_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.plrec"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"isn't a recording.*pluriverse-server record"):
        RecordedScreen(path)


def test_file_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't be read"):
        RecordedScreen(tmp_path / "none.plrec")
