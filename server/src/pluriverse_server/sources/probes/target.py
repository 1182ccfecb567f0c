"""What a probe may know of the program that it reads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pluriverse_server.sources.reading import SourceError

# What is kept of output that hasn't been read yet. Every source of the program's output reads from the same.
MAX_KEPT_BYTES: Final = 16 * 1024 * 1024


class Output:
    """A program's output: one thread writes what came, others read, each from where it has got to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = bytearray()
        self._dropped = 0

    def write(self, data: bytes) -> None:
        """Keep what the program has said, and forget what nobody has read in time."""
        with self._lock:
            self._kept += data
            excess = len(self._kept) - MAX_KEPT_BYTES
            if excess > 0:
                del self._kept[:excess]
                self._dropped += excess

    @property
    def end(self) -> int:
        """How many bytes the program has said."""
        return self._dropped + len(self._kept)

    def read(self, start: int, size: int) -> bytes:
        """At most ``size`` bytes from the ``start``-th on; empty if there are no more yet.

        Raises:
            SourceError: they have been forgotten.
        """
        with self._lock:
            if start < self._dropped:
                raise SourceError(
                    f"the program wrote over {MAX_KEPT_BYTES} bytes of output faster than they could be read; "
                    "let it write less"
                )
            begin = start - self._dropped
            return bytes(self._kept[begin : begin + size])


@dataclass(frozen=True, slots=True)
class Target:
    """A program, as probes see it; what it calls is called from the probes' threads.

    ``pid`` and ``exit_code`` are None before it was started, ``exit_code`` also while it runs. ``environment`` is the
    program's. Its X server must let this process in as well: XAUTHORITY is taken from this process' own environment.
    """

    pid: Callable[[], int | None]
    home: Path
    output: Output
    exit_code: Callable[[], int | None]
    environment: Mapping[str, str]

    def path(self, name: str) -> Path:
        """A file's path, relative to the program's home unless it is absolute."""
        return self.home / name
