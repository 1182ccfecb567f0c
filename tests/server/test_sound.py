from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from pluriverse_server.sound import FRAMES, SoundFile


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SoundFile]:
    with closing(SoundFile.make(tmp_path / "sound")) as file:
        yield file


def frames(first: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int16]]:
    """Return frames that are all different."""
    numbers = np.arange(first, first + count)
    return np.stack([numbers % 30000, -(numbers // 30000)], axis=1).astype(np.int16)


def test_who_listens_hears_what_came_since(file: SoundFile) -> None:
    count = heard = 0
    # Past the file's end several times.
    for size in (1, 700, FRAMES // 2 - 1, 30000, 735, FRAMES // 2, 20000):
        file.put(frames(heard, size))
        sound, count = file.since(count)
        assert np.array_equal(sound, frames(heard, size))
        heard += size
        assert count == file.count == heard


@pytest.mark.parametrize("size", [FRAMES, 3 * FRAMES + 5])
def test_who_is_late_hears_the_last(file: SoundFile, size: int) -> None:
    file.put(frames(0, size))
    sound, count = file.since(0)
    assert count == size
    assert np.array_equal(sound, frames(size - FRAMES // 2, FRAMES // 2))


def test_what_a_program_does_to_the_file_breaks_nothing(file: SoundFile, tmp_path: Path) -> None:
    file.put(frames(0, 100))
    for content in (b"", b"\xff" * 11):
        (tmp_path / "sound").write_bytes(content)
        sound, count = file.since(100)
        assert len(sound) == 0
        file.put(frames(0, 5))
        assert file.count == (count + 5) % 2**63
