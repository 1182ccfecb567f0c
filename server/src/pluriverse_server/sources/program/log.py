"""The ``log`` source: lines that a program writes to a file or prints."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import LogSource
from pluriverse_server.sources.reading import SourceError

from .patterns import Matcher, value_of
from .reader import ProgramOutput, ProgramReader, Target

# A frame's worth for a program that writes 4 MB/s, some 15 ms of matching; the rest is read in the next frames.
MAX_READ_BYTES: Final = 64 * 1024

# A program that is this far ahead writes faster than can be read, and rewards would come seconds late.
MAX_BEHIND_BYTES: Final = 16 * 1024 * 1024

# Only the beginning of a longer line is matched: patterns on megabytes take as long as exploding ones.
MAX_LINE_BYTES: Final = 16 * 1024

# Slow patterns end a read early; the remaining lines come first in the next one.
MAX_READ_S: Final = 0.05


class _Bytes(Protocol):
    # Whether the last read began another file.
    begins_anew: bool

    def read(self) -> bytes: ...
    def close(self) -> None: ...


class LogReader(ProgramReader):
    """Reads the lines that were added since the last read; those from before it was made are never read."""

    def __init__(self, table: LogSource, target: Target) -> None:
        self._bytes: _Bytes = _File(target.path(table.file)) if table.file else _NewOutput(target.output)
        self._matcher = Matcher(table.pattern)
        self._rest = bytearray()  # of a line whose end is still to come
        self._waiting: deque[bytes] = deque()
        self._may_have_more = False
        self._matches = 0
        self._value: Value = None if self._matcher.has_value else 0

    def look(self) -> Value:
        """Return the last match's value, or the number of matches; ``events`` are the matches of this read."""
        started = time.monotonic()
        if not self._waiting:
            data = self._bytes.read()
            if self._bytes.begins_anew:
                self._rest.clear()
            self._waiting.extend(self._split(data))
            self._may_have_more = len(data) == MAX_READ_BYTES
        self.events = 0
        while self._waiting and time.monotonic() - started < MAX_READ_S:
            self.events += self._match(self._waiting.popleft())
        self.behind = self._may_have_more or bool(self._waiting)
        return self._value

    def close(self) -> None:
        self._bytes.close()

    def _match(self, line: bytes) -> bool:
        match = self._matcher.search(line.decode(errors="replace"))
        if match is None:
            return False
        self._matches += 1
        self._value = value_of(match) if self._matcher.has_value else self._matches
        return True

    def _split(self, data: bytes) -> Iterator[bytes]:
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._keep(part)
            yield bytes(self._rest).removesuffix(b"\r")
            self._rest.clear()
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._rest += part[: MAX_LINE_BYTES - len(self._rest)]


class _NewOutput:
    begins_anew = False

    def __init__(self, output: ProgramOutput) -> None:
        self._output = output
        self._offset = output.end

    def read(self) -> bytes:
        data = self._output.read(self._offset, MAX_READ_BYTES)
        self._offset += len(data)
        return data

    def close(self) -> None:
        pass


class _File:
    """A growing file, from its present end on. One that was replaced or truncated is read from its beginning."""

    def __init__(self, path: Path) -> None:
        self.begins_anew = False
        self._path = path
        self._descriptor: int | None = None
        # An error now may pass; one that stays is raised by the first read.
        with contextlib.suppress(OSError):
            self._offset = self._path.stat().st_size
            self._descriptor = _open(path)

    def read(self) -> bytes:
        """Return the next bytes; the rest of a replaced file comes before the new one's."""
        self.begins_anew = False
        try:
            return self._next()
        except (FileNotFoundError, NotADirectoryError):
            return b""
        except OSError as error:
            raise SourceError(f"{self._path} can't be read: {error.strerror}; is it the log?") from error

    def _next(self) -> bytes:
        if self._descriptor is None:
            self._descriptor, self._offset, self.begins_anew = _open(self._path), 0, True
        status = os.fstat(self._descriptor)
        if status.st_size < self._offset:
            self._offset, self.begins_anew = 0, True
        behind = status.st_size - self._offset
        if behind > MAX_BEHIND_BYTES:
            raise SourceError(
                f"{self._path} grew by {behind} bytes that aren't read yet, over {MAX_BEHIND_BYTES}; reduce its output"
            )
        data = self._read_on(self._descriptor)
        if not data and self._replaced(status):
            # Written between the read and the replacement.
            data = self._read_on(self._descriptor)
            if not data:
                self.close()
        return data

    def _read_on(self, descriptor: int) -> bytes:
        data = os.pread(descriptor, MAX_READ_BYTES, self._offset)
        self._offset += len(data)
        return data

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _replaced(self, status: os.stat_result) -> bool:
        try:
            now = self._path.stat()
        except OSError:
            return True
        return (now.st_dev, now.st_ino) != (status.st_dev, status.st_ino)


def _open(path: Path) -> int:
    # Don't wait for a writer if the file is a pipe.
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
