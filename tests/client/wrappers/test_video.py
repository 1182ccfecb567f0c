"""Films that can't be written, or not to their end, are told as such."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from pluriverse.wrappers.video import ApngWriter, FfmpegWriter, VideoError
from support.full_disk import files_of_at_most

# Larger than what a pipe or a file's buffer holds.
SIDE = 512
PICTURE = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE, 3), np.uint8)


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program called ffmpeg, which most machines that run tests lack."""
    program = folder / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)


def test_animated_png_for_which_the_disk_has_no_room_is_an_error(tmp_path: Path) -> None:
    writer = ApngWriter(tmp_path / "film.png", SIDE, SIDE, 60.0)
    with files_of_at_most(100_000), pytest.raises(VideoError, match=r"film\.png: File too large"):
        writer.write(PICTURE)
    writer.close()


def test_animated_png_for_whose_end_the_disk_has_no_room_is_an_error(tmp_path: Path) -> None:
    writer = ApngWriter(tmp_path / "film.png", 2, 2, 60.0)
    writer.write(PICTURE[:2, :2])
    with files_of_at_most(10), pytest.raises(VideoError, match=r"film\.png: File too large"):
        writer.close()
    writer.close()


def test_film_that_ffmpeg_cannot_finish_is_an_error_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "cat > /dev/null; echo first >&2; echo 'No space left on device' >&2; exit 228")
    writer = FfmpegWriter(tmp_path / "film.mp4", SIDE, SIDE, 60.0)
    writer.write(PICTURE)
    with pytest.raises(VideoError, match=r"film\.mp4: ffmpeg failed with status 228: No space left on device"):
        writer.close()
    writer.close()


def test_ffmpeg_that_ends_at_once_is_an_error_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "echo 'Unknown encoder' >&2; exit 1")
    writer = FfmpegWriter(tmp_path / "film.mp4", SIDE, SIDE, 60.0)
    with pytest.raises(VideoError, match="ffmpeg failed with status 1: Unknown encoder"):
        writer.write(PICTURE)
    writer.close()


def test_film_that_ffmpeg_finishes_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, f"cat > {tmp_path}/film.mp4")
    writer = FfmpegWriter(tmp_path / "film.mp4", SIDE, SIDE, 60.0)
    writer.write(PICTURE)
    writer.write(PICTURE)
    writer.close()
    assert writer.path.read_bytes() == PICTURE.tobytes() * 2
