import mmap
import time
from pathlib import Path

from doom.shared_memory import YOUNG_S, sweep


def segment(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(bytes(4096))
    return path


def test_segments_that_nobody_has_mapped_are_removed(tmp_path: Path) -> None:
    left = [segment(tmp_path, name) for name in ("ViZDoomSMabc", "ViZDoomMQCtrabc", "ViZDoomMQDoomabc")]
    other = segment(tmp_path, "somebody else's")
    assert sweep(tmp_path, time.time() + 2 * YOUNG_S) == sorted(path.name for path in left)
    assert list(tmp_path.iterdir()) == [other]


def test_segment_that_is_mapped_is_left_alone(tmp_path: Path) -> None:
    path = segment(tmp_path, "ViZDoomSMabc")
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0):
        assert sweep(tmp_path, time.time() + 2 * YOUNG_S) == []
    assert path.exists()


def test_segment_of_an_engine_that_is_starting_is_left_alone(tmp_path: Path) -> None:
    segment(tmp_path, "ViZDoomSMabc")
    assert sweep(tmp_path) == []
