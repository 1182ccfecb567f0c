"""Searches a program's memory for a value that a person sees: "it is 120 now", "it is 140 now". Blocking."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .found import Found

# The types that scores have, with their sizes, at which they are aligned.
TYPES: Final[dict[str, np.dtype[Any]]] = {
    "i32": np.dtype("<i4"),
    "f64": np.dtype("<f8"),
    "i64": np.dtype("<i8"),
    "f32": np.dtype("<f4"),
}

CHUNK_BYTES: Final = 16 * 1024 * 1024

# Of a larger part, as of a browser's, only so much is searched.
MAX_PART_BYTES: Final = 512 * 1024 * 1024

# What has more places than this is no score: zeroes are everywhere.
MAX_PLACES: Final = 5_000_000

# Of so few places it is worth while to find out how they can be found again.
MAX_NAMED: Final = 12

# How far a value may lie behind the beginning of what a pointer leads to.
MAX_REACH: Final = 2048

# Of a place that many pointers lead to, the nearest are tried.
MAX_POINTERS: Final = 200

# How much before a value is taken for a pattern, and how many bytes of it must say something.
PATTERN_BYTES: Final = 32
MIN_TELLING_BYTES: Final = 8

Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Part:
    """A readable part of a process' memory; ``file`` is the name of the mapped file, if any."""

    start: int
    end: int
    file: str
    writable: bool


class Memory:
    """One process' memory. ``close`` it."""

    def __init__(self, pid: int) -> None:
        """Raise OSError if it may not be read, or the process has ended."""
        self.pid = pid
        self._file = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        self.parts = list(_parts(pid))

    def close(self) -> None:
        """Let go of it."""
        os.close(self._file)

    def read(self, start: int, size: int) -> bytes:
        """Return what is there; less where it ends."""
        try:
            return os.pread(self._file, size, start)
        except OSError:
            return b""

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """Yield the writable memory in pieces, each with its address."""
        for part in self.parts:
            if not part.writable:
                continue
            for start in range(part.start, min(part.end, part.start + MAX_PART_BYTES), CHUNK_BYTES):
                yield start, self.read(start, min(CHUNK_BYTES, part.end - start))


class MemorySearch:
    """The places that have had all the values that were seen, in the processes of one program."""

    def __init__(self, pids: list[int]) -> None:
        """The first of ``pids`` is the program itself."""
        self.pids = pids
        # None: everywhere, since it isn't searched yet, or the value was too common to say.
        self._places: dict[tuple[int, str], Words | None] = {(pid, name): None for pid in pids for name in TYPES}

    @property
    def count(self) -> int:
        """How many places are left."""
        return sum(len(places) for places in self._places.values() if places is not None)

    def narrow(self, value: float) -> None:
        """Keep the places that have ``value`` now; at the first time of all memory."""
        found: dict[tuple[int, str], Words | None] = {}
        for pid in self.pids:
            kinds = [name for name in TYPES if (pid, name) in self._places and _fits(value, name)]
            if not kinds:
                continue
            try:
                memory = Memory(pid)
            except OSError:
                # It has ended, or belongs to somebody else.
                continue
            try:
                for name, places in self._search(memory, kinds, value).items():
                    if places is None or len(places):
                        found[pid, name] = places
            finally:
                memory.close()
        self._places = found

    def sources(self) -> list[Found]:
        """Return the sources that read the places left, if they are few: those first that are found again surely."""
        if not 0 < self.count <= MAX_NAMED:
            return []
        known = [(pid, name, places) for (pid, name), places in self._places.items() if places is not None]
        left = [(pid, name, int(place)) for pid, name, places in known for place in places]
        found: list[tuple[int, Found]] = []
        for pid in dict.fromkeys(pid for pid, _, _ in left):
            try:
                memory = Memory(pid)
            except OSError:
                continue
            try:
                ways = Ways(memory)
                process = {} if pid == self.pids[0] else {"process": _name(pid)}
                for _, name, place in (one for one in left if one[0] == pid):
                    value = float(np.frombuffer(memory.read(place, 8).ljust(8, b"\0"), TYPES[name], 1)[0])
                    for rank, how, keys in ways.to(place):
                        table = {"from": "memory", "type": name, **keys, **process}
                        found.append((rank, Found(f"{name} {how}", value, table)))
            finally:
                memory.close()
        return [one for _, one in sorted(found, key=lambda ranked: ranked[0])]

    def _search(self, memory: Memory, kinds: list[str], value: float) -> dict[str, Words | None]:
        found: dict[str, list[Words]] = {name: [] for name in kinds}
        counts = dict.fromkeys(kinds, 0)
        for start, data in memory.chunks():
            for name in kinds:
                kind = TYPES[name]
                here = np.frombuffer(data, kind, len(data) // kind.itemsize)
                before = self._places[memory.pid, name]
                if before is None:
                    indices = np.flatnonzero(here == value)
                else:
                    first, last = np.searchsorted(before, [start, start + here.nbytes])
                    indices = ((before[first:last] - np.uint64(start)) // np.uint64(kind.itemsize)).astype(np.int64)
                    indices = indices[here[indices] == value]
                counts[name] += len(indices)
                if counts[name] <= MAX_PLACES:
                    found[name].append(indices.astype(np.uint64) * np.uint64(kind.itemsize) + np.uint64(start))
        empty = np.empty(0, np.uint64)
        return {
            name: None if counts[name] > MAX_PLACES else np.concatenate([empty, *parts])
            for name, parts in found.items()
        }


class Ways:
    """Ways to find places in a process' memory again, when it runs another time and its addresses are others."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._modules = _modules(memory.parts)
        # All that may be a pointer, by what it leads to: its target, its own place, and whether that is a module's.
        self._targets, self._pointers = _pointers(memory)
        bounds = sorted(self._modules.values())
        starts = np.array([start for start, _ in bounds], np.uint64)
        ends = np.array([0, *(end for _, end in bounds)], np.uint64)
        static = self._pointers < ends[np.searchsorted(starts, self._pointers, "right")]
        self._roots = self._targets[static], self._pointers[static]

    def to(self, place: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield ways to an address, each with its rank, in words, and as keys of a source."""
        if (static := self._static(place)) is not None:
            yield 0, f"at {static[0]} + {static[1]:#x}", {"module": static[0], "offset": static[1]}
            return
        yield from (self._by_pointer(place) or self._by_two(place) or [])
        yield from self._by_pattern(place)

    def _by_pointer(self, place: int) -> list[tuple[int, str, dict[str, Any]]]:
        for target, pointer in _leading_to(place, *self._roots):
            if (root := self._static(pointer)) is not None:
                keys = {"module": root[0], "offset": root[1], "pointers": [place - target]}
                return [(1, f"by a pointer at {root[0]} + {root[1]:#x}", keys)]
        return []

    def _by_two(self, place: int) -> list[tuple[int, str, dict[str, Any]]]:
        for target, inner in _leading_to(place, self._targets, self._pointers)[:MAX_POINTERS]:
            for begin, outer in _leading_to(inner, *self._roots):
                if (root := self._static(outer)) is not None:
                    pointers = [inner - begin, place - target]
                    keys = {"module": root[0], "offset": root[1], "pointers": pointers}
                    return [(2, f"by two pointers from {root[0]} + {root[1]:#x}", keys)]
        return []

    def _static(self, place: int) -> tuple[str, int] | None:
        for module, (start, end) in self._modules.items():
            if start <= place < end:
                return module, place - start
        return None

    def _by_pattern(self, place: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield a pattern of the bytes before a place, if it is nowhere else."""
        begin = (place - PATTERN_BYTES) & ~7
        before = self._memory.read(begin, place - begin)
        words = [before[index : index + 8] for index in range(0, len(before), 8)]
        # Addresses are others the next time.
        written = [None if self._is_address(word) else word for word in words]
        while written and written[0] is None:
            written, words = written[1:], words[1:]
        # Looked for by its longest part, which regular expressions don't do.
        runs = [b"".join(word or b"" for word in run) for known, run in groupby(written, bool) if known]
        needle = max(runs, key=len, default=b"")
        if sum(byte != 0 for byte in needle) < MIN_TELLING_BYTES:
            return
        if sum(data.count(needle) for _, data in self._memory.chunks()) != 1:
            return
        pairs = zip(words, written, strict=True)
        pattern = " ".join("??" if kept is None else f"{byte:02x}" for word, kept in pairs for byte in word)
        yield 3, "behind bytes that are nowhere else", {"pattern": pattern, "offset": sum(map(len, words))}

    def _is_address(self, word: bytes) -> bool:
        value = int.from_bytes(word, "little")
        return len(word) == 8 and any(part.start <= value < part.end for part in self._memory.parts)


def _pointers(memory: Memory) -> tuple[Words, Words]:
    """Return all words that lead to writable memory, by what they lead to: their targets, and their own places."""
    writable = [part for part in memory.parts if part.writable]
    starts = np.array([part.start for part in writable], np.uint64)
    ends = np.array([0, *(part.end for part in writable)], np.uint64)
    targets: list[Words] = [np.empty(0, np.uint64)]
    places: list[Words] = [np.empty(0, np.uint64)]
    for start, data in memory.chunks():
        words = np.frombuffer(data, "<u8", len(data) // 8)
        indices = np.flatnonzero((words >= starts[0]) & (words < ends[-1])) if len(starts) else np.empty(0, np.int64)
        indices = indices[words[indices] < ends[np.searchsorted(starts, words[indices], "right")]]
        targets.append(words[indices])
        places.append(indices.astype(np.uint64) * np.uint64(8) + np.uint64(start))
    found = np.concatenate(targets)
    order = np.argsort(found, kind="stable")
    return found[order], np.concatenate(places)[order]


def _leading_to(place: int, targets: Words, places: Words) -> list[tuple[int, int]]:
    """Return the pointers to at most ``MAX_REACH`` before a place, nearest first: the target, and their own place."""
    first = np.searchsorted(targets, np.uint64(max(0, place - MAX_REACH)))
    last = np.searchsorted(targets, np.uint64(place), "right")
    return [(int(target), int(own)) for target, own in zip(targets[first:last], places[first:last], strict=True)][::-1]


def _fits(value: float, name: str) -> bool:
    kind = TYPES[name]
    if kind.kind == "f":
        return True
    limits = np.iinfo(kind)
    return float(value).is_integer() and limits.min <= value <= limits.max


def _modules(parts: list[Part]) -> dict[str, tuple[int, int]]:
    """Return where each mapped file begins and ends, with the variables without a value behind it."""
    found: dict[str, tuple[int, int]] = {}
    last = ""
    for part in parts:
        if part.file and not part.file.startswith("["):
            start, _ = found.get(part.file, (part.start, 0))
            found[part.file] = start, part.end
            last = part.file
        elif not part.file and last and found[last][1] == part.start:
            found[last] = found[last][0], part.end
        else:
            last = ""
    return found


def _parts(pid: int) -> Iterator[Part]:
    for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
        # address, permissions, offset, device, inode, path; the path may contain spaces.
        bounds, permissions, *_, path = [*line.split(maxsplit=5), ""][:6]
        start, end = (int(bound, 16) for bound in bounds.split("-"))
        if permissions.startswith("r") and end <= 2**47 and not path.startswith("[v"):
            yield Part(start, end, path.removesuffix(" (deleted)").rpartition("/")[2], "w" in permissions)


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
