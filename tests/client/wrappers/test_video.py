"""Films that can't be written, or not to their end, are told as such."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.wrappers.video import VideoError, VideoWriter

# Larger than what a pipe or a file's buffer holds.
SIDE = 512
PICTURE = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE, 3), np.uint8)


@pytest.fixture
def filming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], VideoWriter]:
    """Begins a film with a program in ffmpeg's place."""

    def begin(script: str) -> VideoWriter:
        program = tmp_path / "ffmpeg"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
        return VideoWriter(tmp_path / "film.mp4", SIDE, SIDE, 60.0)

    return begin


def test_film_that_ffmpeg_cannot_finish_is_an_error_with_its_last_words(filming: Callable[[str], VideoWriter]) -> None:
    writer = filming("cat > /dev/null; echo first >&2; echo 'No space left on device' >&2; exit 228")
    writer.write(PICTURE)
    with pytest.raises(VideoError, match=r"film\.mp4: ffmpeg failed with status 228: No space left on device"):
        writer.close()
    writer.close()


def test_ffmpeg_that_ends_at_once_is_an_error_with_its_last_words(filming: Callable[[str], VideoWriter]) -> None:
    writer = filming("echo 'Unknown encoder' >&2; exit 1")
    with pytest.raises(VideoError, match="ffmpeg failed with status 1: Unknown encoder"):
        writer.write(PICTURE)
    writer.close()


def test_ffmpeg_without_h264_is_an_error_with_the_command_that_brings_one(
    filming: Callable[[str], VideoWriter],
) -> None:
    writer = filming("""case "$*" in *"-c:v libx264"*) echo "Unknown encoder 'libx264'" >&2; exit 8;; esac""")
    with pytest.raises(VideoError, match=r"lacks H\.264; install one that has it: pip install 'pluriverse\[video\]'"):
        writer.write(PICTURE)


def test_missing_ffmpeg_is_told_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imageio_ffmpeg.get_ffmpeg_exe", no_ffmpeg)
    with pytest.raises(ConfigurationError, match="apt-get install ffmpeg"):
        VideoWriter(tmp_path / "film.mp4", SIDE, SIDE, 60.0)


def no_ffmpeg() -> str:
    raise RuntimeError("No ffmpeg exe could be found")
