from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse.errors import ConfigurationError, RemoteFailed
from pluriverse.recording.recorded_screen import RecordedScreen
from pluriverse.recording.recorder import Recorder
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.messages import Describe
from pluriverse_protocol.recording_file import open_recording
from pluriverse_protocol.recordings import Input, Said
from support.full_disk import files_of_at_most

WIDTH, HEIGHT = 20, 10
DESCRIBED = Describe("toy.Game-v0", "running", 60.0, "toy", "1", WIDTH, HEIGHT, picture=(0, 0, WIDTH, HEIGHT))


def screen(**pixels: int) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """Return a black screen but for one pixel."""
    made = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    if pixels:
        made[pixels["y"], pixels["x"]] = 1, 2, pixels["blue"]
    return made


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1), st.integers(0, 255)), max_size=8))
def test_pictures_are_read_as_they_were_shown(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[int, int, int]]
) -> None:
    path = tmp_path_factory.mktemp("recording") / "a.plrec"
    recorder = Recorder(path, DESCRIBED, began=1000.0)
    shown = [screen(x=x, y=y, blue=blue) for x, y, blue in places]
    for at, picture in enumerate(shown):
        recorder.picture(at, picture)
        recorder.inputs(at, [KeyEvent(0x61, True)])
    recorder.close()
    recorded = RecordedScreen(path)
    seen = [recorded.rgb() for record in recorded.records() if isinstance(record, Input)]
    assert len(seen) == len(shown)
    assert all((one == other).all() for one, other in zip(seen, shown, strict=True))


def test_episodes_are_told_as_the_remote_tells_them(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.plrec", DESCRIBED, began=1000.0)
    recorder.begin(1.0, 4, seed=7)
    recorder.inputs(2.0, [PointerEvent(3, 4, 1)])
    recorder.reward(1.5, 4, 2.0)
    recorder.end(3.0, 4, 2.0, terminated=True, reason="lost")
    recorder.close()
    header, records = open_recording(tmp_path / "a.plrec")
    assert (header.env_id, header.runtime, header.version, header.began) == ("toy.Game-v0", "toy", "1", 1000.0)
    assert list(records) == [
        Said(1.0, {"event": "begin", "episode": 4, "env": "toy.Game-v0", "fps": 60.0, "seed": 7}),
        Said(1.0, {"report": "ready", "episode": 4, "picture": [0, 0, WIDTH, HEIGHT]}),
        Input(2.0, PointerEvent(3, 4, 1)),
        Said(2.0, {"report": "reward", "episode": 4, "reward": 2.0}),
        Said(
            3.0, {"event": "end", "episode": 4, "reward": 2.0, "terminated": True, "truncated": False, "reason": "lost"}
        ),
    ]


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.plrec"
    recorder = Recorder(path, DESCRIBED, began=0.0)
    with pytest.raises(ConfigurationError, match=r"a\.plrec\.partial already exists"):
        Recorder(path, DESCRIBED, began=0.0)
    recorder.close()
    recorder.close()
    with pytest.raises(ConfigurationError, match=r"a\.plrec already exists"):
        Recorder(path, DESCRIBED, began=0.0)
    with pytest.raises(ConfigurationError, match="can't be recorded"):
        Recorder(tmp_path / "nowhere" / "a.plrec", DESCRIBED, began=0.0)


def test_a_screen_of_another_size_ends_it(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.plrec", DESCRIBED, began=0.0)
    with pytest.raises(RemoteFailed, match="the recording's is"):
        recorder.picture(0.0, np.zeros((3, 3, 3), np.uint8))
    recorder.close()


def test_full_disk_is_told_where_it_is_met(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.plrec", DESCRIBED, began=0.0)
    random = np.random.default_rng(0)

    def record() -> None:
        for at in range(1000):
            recorder.picture(at, random.integers(256, size=(HEIGHT, WIDTH, 3), dtype=np.uint8))

    with files_of_at_most(1000):
        with pytest.raises(ConfigurationError, match=r"a\.plrec\.partial can't be written: File too large"):
            record()
        with pytest.raises(ConfigurationError, match=r"a\.plrec\.partial can't be written"):
            recorder.close()
    recorder.close()
    assert not recorder.path.exists()
