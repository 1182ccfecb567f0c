"""The base of every source beside the screen, and what a source may know of the program that it reads."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.reading import Sample, SourceError

# How much unread output is kept, shared by all sources that read it.
MAX_KEPT_BYTES: Final = 16 * 1024 * 1024


class ProgramReader(ABC):
    """Reads one source that isn't on the screen. Reads may block: each reader has a thread of its own.

    The thread adds the source's name to errors.
    """

    # The last read's number of events, for sources that count any, and whether more is left than it could read.
    events = 0
    behind = False

    def read(self) -> Sample:
        at, started = time.time(), time.monotonic()
        value = self.look()
        return Sample(value, at, events=self.events, lag_s=time.monotonic() - started, behind=self.behind)

    @abstractmethod
    def look(self) -> Value:
        """Return the value or None; raise SourceError as ``read`` does."""

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Release files and connections."""


class ProgramOutput:
    """A program's output: one thread writes it, others read it, each at an offset of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = bytearray()
        self._dropped = 0

    def write(self, data: bytes) -> None:
        """Append output, and drop the oldest if there is too much."""
        with self._lock:
            self._kept += data
            excess = len(self._kept) - MAX_KEPT_BYTES
            if excess > 0:
                del self._kept[:excess]
                self._dropped += excess

    @property
    def end(self) -> int:
        """How many bytes the program has written."""
        return self._dropped + len(self._kept)

    def read(self, start: int, size: int) -> bytes:
        with self._lock:
            if start < self._dropped:
                raise SourceError(
                    f"the program wrote over {MAX_KEPT_BYTES} bytes of output faster than they could be read; "
                    "reduce its output"
                )
            begin = start - self._dropped
            return bytes(self._kept[begin : begin + size])


@dataclass(frozen=True, slots=True)
class Target:
    """A program as its readers see it; the functions are called from the readers' threads.

    ``pid`` and ``exit_code`` return None before the program starts, ``exit_code`` also while it runs. ``environment``
    is the program's. Its X server must accept this process too: XAUTHORITY is taken from this process' environment.
    """

    pid: Callable[[], int | None]
    home: Path
    output: ProgramOutput
    exit_code: Callable[[], int | None]
    environment: Mapping[str, str]

    def path(self, name: str) -> Path:
        """Return a file's path; relative names are relative to the program's home."""
        return self.home / name


class ExitReader(ProgramReader):
    """Reads a program's exit code: None while it runs; negative: the signal that ended it."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def look(self) -> Value:
        return self._target.exit_code()
