"""Writes pictures into a video file: MP4 by ffmpeg where it is installed, else animated PNG, which browsers play.

The animated PNG needs nothing but zlib. It is lossless and larger: about 15 KB a picture of Atari.
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from pluriverse import forks
from pluriverse.errors import PluriverseError

Picture = NDArray[np.uint8]

# ffmpeg has little left to do once its input ends.
FFMPEG_END_S: Final = 60.0

# Recording runs beside the agent: the fastest level, which still halves a game's picture several times.
ZLIB_LEVEL: Final = 1

# What an animated PNG has 16 bits for.
MAX_DELAY_MS: Final = 0xFFFF

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


class VideoError(PluriverseError):
    """A video file could not be written."""


def open_video(stem: Path, picture: Picture, fps: float) -> VideoWriter:
    """A video beginning with ``picture``, at ``stem`` with the suffix of its format. Others must have its size.

    Raises:
        VideoError: it can't be written.
    """
    height, width = picture.shape[:2]
    try:
        if shutil.which("ffmpeg") is not None:
            writer = FfmpegWriter(stem.with_name(stem.name + ".mp4"), width, height, fps)
        else:
            writer = ApngWriter(stem.with_name(stem.name + ".png"), width, height, fps)
    except OSError as error:
        raise VideoError(f"{stem}: {error.strerror}") from error
    writer.write(picture)
    return writer


class FfmpegWriter:
    """H.264 by a child process that takes raw pictures. Its methods raise ``VideoError`` if it fails."""

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        self.path = path
        # A file, since nobody reads a pipe before the end.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this
        source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-"]
        # H.264 in its usual format halves colours both ways, and so wants even sizes.
        result = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-y", str(path)]
        self._process = subprocess.Popen(
            ["ffmpeg", "-loglevel", "error", *source, *result],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._complaints,
        )
        assert self._process.stdin is not None
        forks.keep(self._process.stdin)

    def write(self, picture: Picture) -> None:
        """Add a picture: uint8 (height, width, 3) RGB."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(np.ascontiguousarray(picture).data)
        except BrokenPipeError as error:
            self.close()
            raise VideoError(f"{self.path}: ffmpeg has ended before the film has") from error

    def close(self) -> None:
        """Finish the file. May be called repeatedly."""
        if self._complaints.closed:
            return
        assert self._process.stdin is not None
        with self._complaints:
            with contextlib.suppress(BrokenPipeError):  # then it has failed, and says why
                self._process.stdin.close()
            try:
                status = self._process.wait(FFMPEG_END_S)
            except subprocess.TimeoutExpired as error:
                self._process.kill()
                self._process.wait()
                raise VideoError(f"{self.path}: ffmpeg did not finish within {FFMPEG_END_S:g} s") from error
            if status != 0:
                self._complaints.seek(0)
                why = self._complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
                raise VideoError(f"{self.path}: ffmpeg failed with status {status}: {why or 'it does not say why'}")


class ApngWriter:
    """An animated PNG; each picture is a frame of its own. How many there are is filled in at the end.

    Its methods raise ``VideoError`` if the file can't be written.
    """

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        self.path = path
        self._file: BinaryIO = forks.keep(path.open("wb"))
        self._size = width, height
        self._fps = fps
        self._frames = 0
        self._sequence = itertools.count()
        # Eight bits a channel, RGB, nothing interlaced.
        self._file.write(_SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        self._control_at = self._file.tell()
        self._file.write(_chunk(b"acTL", struct.pack(">II", 0, 0)))

    def write(self, picture: Picture) -> None:
        """Add a picture: uint8 (height, width, 3) RGB."""
        width, height = self._size
        delay = struct.pack(">HHBB", min(round(1000 / self._fps), MAX_DELAY_MS), 1000, 0, 0)
        # Each row begins with its filter, 0: none.
        rows = np.zeros((height, 1 + 3 * width), np.uint8)
        rows[:, 1:] = picture.reshape(height, 3 * width)
        data = zlib.compress(rows.tobytes(), ZLIB_LEVEL)
        with self._closed_if_it_breaks():
            self._file.write(_chunk(b"fcTL", struct.pack(">IIIII", next(self._sequence), width, height, 0, 0) + delay))
            if self._frames == 0:
                self._file.write(_chunk(b"IDAT", data))
            else:
                self._file.write(_chunk(b"fdAT", struct.pack(">I", next(self._sequence)) + data))
        self._frames += 1

    def close(self) -> None:
        """Finish the file. May be called repeatedly."""
        if self._file.closed:
            return
        with self._closed_if_it_breaks():
            self._file.write(_chunk(b"IEND", b""))
            self._file.seek(self._control_at)
            self._file.write(_chunk(b"acTL", struct.pack(">II", self._frames, 0)))
            self._file.close()

    @contextlib.contextmanager
    def _closed_if_it_breaks(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.close()
            raise VideoError(f"{self.path}: {error.strerror}") from error


VideoWriter = FfmpegWriter | ApngWriter
"""A file that takes pictures of one size: ``write`` them, then ``close``; its name is ``path``."""


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
