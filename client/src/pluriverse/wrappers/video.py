"""Writes pictures into a film: MP4, by ffmpeg."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse import forks
from pluriverse.errors import ConfigurationError, PluriverseError, needed

SUFFIX: Final = ".mp4"

# ffmpeg has little left to do once its input ends.
FFMPEG_END_S: Final = 60.0


class VideoError(PluriverseError):
    """A film could not be written."""


class VideoWriter:
    """H.264 by a child process that takes raw pictures of one size."""

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        """Begin the film.

        Raises:
            ConfigurationError: the extra video isn't installed, or there is no ffmpeg.
        """
        with needed("a film", extra="video"):
            import imageio_ffmpeg  # pyright: ignore[reportMissingTypeStubs]
        try:
            ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
        except RuntimeError as error:
            raise ConfigurationError("a film needs ffmpeg, which isn't installed: apt-get install ffmpeg") from error
        self.path = path
        # A file, since a pipe would not be read before the end.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this
        source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-"]
        # H.264 in its usual format halves colours both ways, and so wants even sizes. An ffmpeg without it would choose
        # another codec by itself, such as a hundred times as large PNG.
        result = ["-c:v", "libx264", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-y", str(path)]
        self._process = subprocess.Popen(
            [ffmpeg, "-loglevel", "error", *source, *result],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._complaints,
        )
        assert self._process.stdin is not None
        forks.keep(self._process.stdin)

    def write(self, picture: NDArray[np.uint8]) -> None:
        """Add a picture, uint8 (height, width, 3), RGB; raise VideoError if ffmpeg fails."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(np.ascontiguousarray(picture).data)
        except BrokenPipeError as error:
            self.close()
            raise VideoError(f"{self.path}: ffmpeg has ended before the film was complete") from error

    def close(self) -> None:
        """Finish the film; raise VideoError if ffmpeg fails. May be called repeatedly."""
        if self._complaints.closed:
            return
        assert self._process.stdin is not None
        with self._complaints:
            with contextlib.suppress(BrokenPipeError):  # then it has failed, with a reason
                self._process.stdin.close()
            try:
                status = self._process.wait(FFMPEG_END_S)
            except subprocess.TimeoutExpired as error:
                self._process.kill()
                self._process.wait()
                raise VideoError(f"{self.path}: ffmpeg did not finish within {FFMPEG_END_S:g} s") from error
            if status != 0:
                self._complaints.seek(0)
                said = self._complaints.read().decode(errors="replace").strip()
                why = said.rpartition("\n")[2] or "it gave no reason"
                if "libx264" in said:
                    why = "it lacks H.264; install one that has it: pip install 'pluriverse[video]'"
                raise VideoError(f"{self.path}: ffmpeg failed with status {status}: {why}")
