"""Writes a recording of what a person sees and does here, as ``pluriverse-server record`` writes one at the remote."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import Describe
from pluriverse_protocol.recording_file import RecordingFile, already_there
from pluriverse_protocol.recordings import Header, Input, Record, Said, Update, begins, ends
from pluriverse_protocol.rfb.raw_updates import raw_update

from pluriverse import forks
from pluriverse.errors import ConfigurationError, RemoteFailed
from pluriverse.forks import Owner

# A process that is killed leaves the unfinished file, readable up to its last second.
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
        self._flush_at = 0.0
        self._picture = np.zeros((*self._shape, 3), np.uint8)
        if (there := already_there(path)) is not None:
            raise ConfigurationError(f"{there} already exists; name another file, or remove it")
        try:
            self._file = forks.keep(RecordingFile(path, header, level=LEVEL))
        except OSError as error:
            raise ConfigurationError(f"{path} can't be recorded: {error.strerror}") from error

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
        self._add(Update(at, raw_update([(box, pixels.tobytes())])))

    def inputs(self, at: float, events: Iterable[Event]) -> None:
        for event in events:
            self._add(Input(at, event))

    def begin(self, at: float, episode: int, seed: int | None) -> None:
        """Note that an episode runs, as its first picture shows it."""
        described = self._described
        self._say(at, begins(episode, described.env_id, seed, described.fps, described.spaces))
        ready: dict[str, Any] = {"report": "ready", "episode": episode}
        if described.picture is not None:
            ready["picture"] = list(described.picture)
        self._say(at, ready)

    def reward(self, at: float, episode: int, reward: float) -> None:
        self._say(at, {"report": "reward", "episode": episode, "reward": reward})

    def end(
        self, at: float, episode: int, reward: float, *, terminated: bool, reason: str, evidence: str | None = None
    ) -> None:
        """Note that an episode has ended; ``reward`` is all of it, ``evidence`` what a task was graded by."""
        self._say(at, ends(episode, reward, terminated=terminated, reason=reason, evidence=evidence))

    def close(self) -> None:
        """Finish the file, and give it its name."""
        if self._file.closed or not self._owner.is_here:
            return
        with self._writable():
            self._file.close()

    def _say(self, at: float, said: dict[str, Any]) -> None:
        self._add(Said(at, said))

    def _add(self, record: Record) -> None:
        with self._writable():
            self._file.write(record)
            if record.at >= self._flush_at:
                self._file.flush()
                self._flush_at = record.at + FLUSH_S

    @contextlib.contextmanager
    def _writable(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise ConfigurationError(f"{self._file.partial} can't be written: {error.strerror}") from error
