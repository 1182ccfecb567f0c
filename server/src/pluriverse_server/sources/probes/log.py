"""The ``log`` source: lines that a program writes to a file or says as its output."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from pathlib import Path
from typing import Final, Protocol

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import LogSource
from pluriverse_server.sources.reading import Sample, SourceError

from .patterns import Matcher, value_of
from .target import Output, Target

# A frame's worth of a program that writes 4 MB/s, some 15 ms of matching; the rest is read in the next frames.
MAX_READ_BYTES: Final = 64 * 1024

# A program that is so far ahead writes faster than it can be read; what it said seconds ago is no reward of now.
MAX_BEHIND_BYTES: Final = 16 * 1024 * 1024

# Of a longer line only the beginning is looked at: patterns on megabytes take as long as exploding ones.
MAX_LINE_BYTES: Final = 16 * 1024

# Slow patterns end a read early; the lines that are left come first in the next.
MAX_READ_S: Final = 0.05


class _Bytes(Protocol):
    # Whether what was read last is the beginning of another file.
    begins_anew: bool

    def read(self) -> bytes: ...
    def close(self) -> None: ...


class LogProbe:
    """Reads the lines that have come since the last time; those before it was made are old and are not read."""

    def __init__(self, name: str, table: LogSource, target: Target) -> None:
        self._bytes: _Bytes = _File(name, target.path(table.file)) if table.file else _Said(target.output)
        self._matcher = Matcher(name, table.pattern)
        self._lines = _Lines()
        self._waiting: deque[bytes] = deque()
        self._may_have_more = False
        self._matches = 0
        self._value: Value = None if self._matcher.has_value else 0

    def read(self) -> Sample:
        """The last match's value, or how many there have been; ``events`` are the matches since the last read.

        Raises:
            SourceError: the file can't be read, or the program is too fast, or the pattern too slow.
        """
        at, started = time.time(), time.monotonic()
        if not self._waiting:
            data = self._bytes.read()
            if self._bytes.begins_anew:
                self._lines.forget()
            self._waiting.extend(self._lines.feed(data))
            self._may_have_more = len(data) == MAX_READ_BYTES
        events = 0
        while self._waiting and time.monotonic() - started < MAX_READ_S:
            events += self._look_at(self._waiting.popleft())
        behind = self._may_have_more or bool(self._waiting)
        return Sample(self._value, at, events=events, lag_s=time.monotonic() - started, behind=behind)

    def close(self) -> None:
        """Let go of the file."""
        self._bytes.close()

    def _look_at(self, line: bytes) -> bool:
        match = self._matcher.search(line.decode(errors="replace"))
        if match is None:
            return False
        self._matches += 1
        self._value = value_of(match) if self._matcher.has_value else self._matches
        return True


class _Lines:
    """Cuts bytes into lines; one without its end waits for it."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        *ended, rest = data.split(b"\n")
        lines: list[bytes] = []
        for part in ended:
            self._keep(part)
            lines.append(bytes(self._rest).removesuffix(b"\r"))
            self._rest.clear()
        self._keep(rest)
        return lines

    def forget(self) -> None:
        """The line that waits will have no end."""
        self._rest.clear()

    def _keep(self, part: bytes) -> None:
        self._rest += part[: MAX_LINE_BYTES - len(self._rest)]


class _Said:
    """The program's output, from now on."""

    begins_anew = False

    def __init__(self, output: Output) -> None:
        self._output = output
        self._offset = output.end

    def read(self) -> bytes:
        data = self._output.read(self._offset, MAX_READ_BYTES)
        self._offset += len(data)
        return data

    def close(self) -> None:
        pass


class _File:
    """A file that grows, from its present end on. One that was replaced or cut short is read from its beginning."""

    def __init__(self, name: str, path: Path) -> None:
        self.begins_anew = False
        self._name = name
        self._path = path
        self._descriptor: int | None = None
        # One that can't be read yet is none yet; whoever reads is told if it stays so.
        with contextlib.suppress(OSError):
            self._offset = self._path.stat().st_size
            self._descriptor = _open(path)

    def read(self) -> bytes:
        """The next bytes; what an old file still had before those of the one that took its place."""
        self.begins_anew = False
        try:
            return self._next()
        except (FileNotFoundError, NotADirectoryError):
            return b""
        except OSError as error:
            raise SourceError(
                f"source {self._name!r}: {self._path} can't be read: {error.strerror}; is it the log?"
            ) from error

    def _next(self) -> bytes:
        if self._descriptor is None:
            self._descriptor, self._offset, self.begins_anew = _open(self._path), 0, True
        status = os.fstat(self._descriptor)
        if status.st_size < self._offset:
            self._offset, self.begins_anew = 0, True
        behind = status.st_size - self._offset
        if behind > MAX_BEHIND_BYTES:
            raise SourceError(
                f"source {self._name!r}: {self._path} grew by {behind} bytes that aren't read yet, over "
                f"{MAX_BEHIND_BYTES}; let the program write less"
            )
        data = self._read_on(self._descriptor)
        if not data and self._replaced(status):
            # What came before it was replaced, and after it was read.
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
    # Not to wait for a writer, where somebody has put a pipe in the file's place.
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
