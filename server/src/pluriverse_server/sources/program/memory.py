"""The ``memory`` source: a typed value in the memory of a program that this process has started."""

from __future__ import annotations

import os
import re
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import MemorySource
from pluriverse_server.sources.reading import SourceError

from .reader import ProgramReader, Target

_INTEGERS: Final = {8: "b", 16: "h", 32: "i", 64: "q"}
_FORMATS: Final = {
    **{f"i{bits}": f"<{code}" for bits, code in _INTEGERS.items()},
    **{f"u{bits}": f"<{code.upper()}" for bits, code in _INTEGERS.items()},
    "f32": "<f",
    "f64": "<d",
}
_POINTER: Final = struct.Struct("<Q")

# User space ends here on all 64-bit systems with four levels of pages.
MAX_ADDRESS: Final = 2**47

# How often a missing program, module or pattern is looked for; each look takes some milliseconds.
LOOK_S: Final = 0.1

# How much is searched for a pattern in one read: some 10 ms.
SCAN_BYTES: Final = 8 * 1024 * 1024
CHUNK_BYTES: Final = 1024 * 1024


class MemoryReader(ProgramReader):
    """Reads through ``/proc/PID/mem``. Modules and patterns are looked up once for each process."""

    def __init__(self, table: MemorySource, target: Target) -> None:
        self._table = table
        self._target = target
        self._value = struct.Struct(_FORMATS[table.type])
        self._pattern = _compile(table.pattern) if table.pattern is not None else None
        self._process: _Process | None = None
        self._page = 0
        self._base = table.address
        self._search: Iterator[int | None] | None = None
        self._look_at = 0.0

    def look(self) -> Value:
        now = time.monotonic()
        return self._read(now) if self._attached(now) else None

    def close(self) -> None:
        if self._process is not None:
            os.close(self._process.memory)
            self._process = None
        self._base, self._search = self._table.address, None

    def _read(self, now: float) -> float | None:
        process = self._process
        base = self._base if self._base is not None else self._locate(now)
        if process is None or base is None:
            return None
        address = base + self._table.offset
        for offset in self._table.pointers:
            pointer = process.read(address, _POINTER.size)
            if pointer is None:
                return self._gone(process)
            address = _POINTER.unpack(pointer)[0] + offset
        content = process.read(address, self._value.size)
        return self._value.unpack(content)[0] if content is not None else self._gone(process)

    def _gone(self, process: _Process) -> None:
        # A wrong pointer means nothing. But if the first page is gone, the process has ended or executed another
        # program, which an open /proc/PID/mem doesn't follow.
        if process.read(self._page, 1) is None:
            self.close()

    def _attached(self, now: float) -> bool:
        pid = self._target.pid()
        if self._process is not None and (pid is None or pid != self._process.program):
            self.close()
        if self._process is None and pid is not None and now >= self._look_at:
            self._look_at = now + LOOK_S
            self._attach(pid)
        return self._process is not None

    def _attach(self, program: int) -> None:
        name = self._table.process
        pid = program if name is None else _child(program, name)
        if pid is None:
            return
        try:
            memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError:
            raise SourceError(
                f"the memory of process {pid} may not be read; it must run as the same user, "
                "without privileges of its own (setuid, setgid)"
            ) from None
        except OSError:
            return
        self._process = process = _Process(program, pid, memory)
        self._page = next((part.start for part in process.maps()), 0)
        self._look_at = 0.0

    def _locate(self, now: float) -> int | None:
        """Continue the search for the module and the pattern; None until they are found."""
        if self._process is None or now < self._look_at:
            return None
        if self._search is None:
            self._search = self._places(self._process)
        for found in self._search:
            self._base = found
            return found
        self._search = None
        self._look_at = now + LOOK_S
        return None

    def _places(self, process: _Process) -> Iterator[int | None]:
        """Yield None after each part of the memory that was searched in vain, and then the address."""
        module = self._table.module
        parts = [part for part in process.maps() if module is None or part.file == module]
        if self._pattern is None:
            yield from (part.start for part in parts[:1])
            return
        searched = 0
        for part in parts:
            for start in range(part.start, part.end, CHUNK_BYTES):
                # A match may straddle two chunks.
                size = min(CHUNK_BYTES + 256, part.end - start)
                match = self._pattern.search(process.read_some(start, size))
                if match is not None:
                    yield start + match.start()
                    return
                searched += CHUNK_BYTES
                if searched >= SCAN_BYTES:
                    searched = 0
                    yield None


@dataclass(frozen=True, slots=True)
class _Part:
    """A readable part of a process' memory; ``file`` is the name of the mapped file, if any."""

    start: int
    end: int
    file: str


@dataclass(frozen=True, slots=True)
class _Process:
    """The memory of process ``pid``, which belongs to the program that was started as process ``program``."""

    program: int
    pid: int
    memory: int

    def read(self, address: int, size: int) -> bytes | None:
        if not 0 <= address <= MAX_ADDRESS - size:
            return None
        content = self.read_some(address, size)
        return content if len(content) == size else None

    def read_some(self, address: int, size: int) -> bytes:
        try:
            return os.pread(self.memory, size, address)
        except OSError:
            return b""

    def maps(self) -> list[_Part]:
        try:
            lines = Path(f"/proc/{self.pid}/maps").read_text(errors="replace").splitlines()
        except OSError:
            return []
        parts: list[_Part] = []
        for line in lines:
            # address, permissions, offset, device, inode, path; the path may contain spaces.
            bounds, permissions, *_, path = [*line.split(maxsplit=5), ""][:6]
            start, end = (int(bound, 16) for bound in bounds.split("-"))
            if permissions.startswith("r") and end <= MAX_ADDRESS and not path.startswith("[v"):
                parts.append(_Part(start, end, path.removesuffix(" (deleted)").rpartition("/")[2]))
        return parts


def _child(program: int, name: str) -> int | None:
    try:
        children = psutil.Process(program).children(recursive=True)
    except psutil.Error:
        return None
    for child in children:
        try:
            if child.name() == name:
                return child.pid
        except psutil.Error:
            continue
    return None


def _compile(pattern: str) -> re.Pattern[bytes]:
    write: Callable[[str], bytes] = lambda word: b"." if word == "??" else re.escape(bytes.fromhex(word))  # noqa: E731
    return re.compile(b"".join(write(word) for word in pattern.split()), re.DOTALL)
