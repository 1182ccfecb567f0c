"""Writes a recording of what a person sees and does here, as ``pluriverse-server record`` writes one at the remote."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import zstandard
from numpy.typing import NDArray
from pluriverse_protocol.messages import Describe
from pluriverse_protocol.recordings import Header, Input, Record, RecordingWriter, Said, Update
from pluriverse_protocol.rfb.raw_updates import raw_update

from pluriverse import forks
from pluriverse.errors import ConfigurationError, RemoteFailed
from pluriverse.forks import Owner
from pluriverse.vnc.connection import InputEvent

# Until it is finished, a recording has this suffix; a process that is killed leaves it, readable up to its last second.
PARTIAL: Final = ".partial"
FLUSH_S: Final = 1.0

# The person waits for each picture: the fastest levels keep up with a game's.
LEVEL: Final = 1


class Recorder:
    """One recording. Times are seconds since it began, and what is earlier than the last record is dated as that.

    Whatever adds to it raises ConfigurationError if the disk is full, or gone.
    """

    def __init__(self, path: Path, described: Describe, began: float) -> None:
        """Begin the file; ``began`` is UNIX seconds."""
        self.path = path
        self._described = described
        width, height = described.size
        self._shape = height, width
        header = Header(
            runtime=described.runtime or "unknown",
            version=described.runtime_version or "unknown",
            env_id=described.env_id,
            width=self._shape[1],
            height=self._shape[0],
            fps=described.fps,
            began=began,
        )
        self._owner = Owner("this recording")
        self._at = 0.0
        self._flush_at = 0.0
        self._writer = RecordingWriter(header)
        self._picture = np.zeros((*self._shape, 3), np.uint8)
        self._partial = path.with_name(path.name + PARTIAL)
        for there in (path, self._partial):
            if there.exists():
                raise ConfigurationError(f"{there} is a recording already; name another file, or remove it")
        try:
            self._file = forks.keep(self._partial.open("xb"))
        except OSError as error:
            raise ConfigurationError(f"{path} can't be recorded: {error.strerror}") from error
        compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._stream = compressor.stream_writer(self._file, closefd=False)
        self._write(self._writer.begin())

    def picture(self, at: float, screen: NDArray[np.uint8]) -> None:
        """Add what has changed of the screen, (height, width, 3) RGB."""
        if screen.shape != self._picture.shape:
            raise RemoteFailed(f"the screen is {screen.shape} now, and the recording's is {self._picture.shape}")
        # Bytes of whole rows are compared far faster than pixels of three.
        differs = (screen != self._picture).reshape(len(screen), -1)
        rows = np.flatnonzero(differs.any(axis=1))
        if not rows.size:
            return
        top, bottom = int(rows[0]), int(rows[-1]) + 1
        columns = np.flatnonzero(differs[top:bottom].any(axis=0)) // 3
        left, right = int(columns[0]), int(columns[-1]) + 1
        part = self._picture[top:bottom, left:right] = screen[top:bottom, left:right]
        pixels = np.zeros((*part.shape[:2], 4), np.uint8)
        pixels[..., :3] = part[..., ::-1]
        box = left, top, right - left, bottom - top
        self._add(Update(self._since(at), raw_update([(box, pixels.tobytes())])))

    def inputs(self, at: float, events: Iterable[InputEvent]) -> None:
        for event in events:
            self._add(Input(self._since(at), event))

    def begin(self, at: float, episode: int, seed: int | None) -> None:
        """Note that an episode runs, as its first picture shows it."""
        described = self._described
        begins: dict[str, Any] = {"event": "begin", "episode": episode, "env": described.env_id, "fps": described.fps}
        if seed is not None:
            begins["seed"] = seed
        if described.spaces is not None:
            begins["spaces"] = described.spaces.as_json()
        self._say(at, begins)
        ready: dict[str, Any] = {"report": "ready", "episode": episode}
        if described.picture is not None:
            ready["picture"] = list(described.picture)
        self._say(at, ready)

    def reward(self, at: float, episode: int, reward: float) -> None:
        self._say(at, {"report": "reward", "episode": episode, "reward": reward})

    def end(self, at: float, episode: int, reward: float, *, terminated: bool, reason: str) -> None:
        """Note that an episode has ended; ``reward`` is all of it."""
        ends = {"terminated": terminated, "truncated": not terminated, "reason": reason}
        self._say(at, {"event": "end", "episode": episode, "reward": reward, **ends})

    def close(self) -> None:
        """Finish the file, and give it its name."""
        if self._file.closed or not self._owner.is_here:
            return
        with self._writable():
            with self._file:
                self._stream.flush(zstandard.FLUSH_FRAME)
            self._partial.rename(self.path)

    def _say(self, at: float, said: dict[str, Any]) -> None:
        self._add(Said(self._since(at), said))

    def _since(self, at: float) -> float:
        self._at = max(self._at, at)
        return self._at

    def _add(self, record: Record) -> None:
        self._write(self._writer.write(record))

    def _write(self, data: bytes) -> None:
        with self._writable():
            self._stream.write(data)
            if time.monotonic() >= self._flush_at:
                self._stream.flush(zstandard.FLUSH_BLOCK)
                self._file.flush()
                self._flush_at = time.monotonic() + FLUSH_S

    @contextlib.contextmanager
    def _writable(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise ConfigurationError(f"{self._partial} can't be written: {error.strerror}") from error
