"""Files that others wrote: never more of one than a limit, and no error of its content but ValueError.

Opens nothing: what is read is a file, or what unpacks one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any, Final, Protocol

# Of a file that people write and read: the largest of ours, a catalogue, has 200 kB.
MAX_TEXT_BYTES: Final = 4 * 1024 * 1024


class Lines(Protocol):
    """What has lines of bytes, as binary files have."""

    def readline(self, size: int, /) -> bytes:
        """Return a line, or the first ``size`` bytes of it."""
        ...


class Bytes(Protocol):
    """What has bytes, as binary files have."""

    def read(self, size: int, /) -> bytes:
        """Return as many bytes, fewer at the end."""
        ...


def read(file: Bytes, limit: int = MAX_TEXT_BYTES) -> bytes:
    data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it has over {limit} bytes")
    return data


def lines(file: Lines, limit: int) -> Iterator[bytes]:
    """Yield each line of a file, with its end; the last may have none."""
    left = limit
    while line := file.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise ValueError(f"it has over {limit} bytes")
        yield line


def parse_toml(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None
