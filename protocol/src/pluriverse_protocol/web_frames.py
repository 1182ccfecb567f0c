"""What a frame of a WebSocket begins with: RFC 6455, section 5.2."""

from __future__ import annotations

import struct
from typing import Final

FINAL: Final = 0x80
MASKED: Final = 0x80
WHOLE_BINARY: Final = FINAL | 2
"""The first byte of a binary message's only frame."""

LEAST_BYTES: Final = 2
MOST_BYTES: Final = 14
MASK_BYTES: Final = 4

_SHORT: Final = 125
_TWO_BYTES: Final = 126
_EIGHT_BYTES: Final = 127


def head(first: int, size: int, *, masked: bool = False) -> bytes:
    """Return what comes before the mask and the ``size`` bytes of a frame whose first byte is ``first``."""
    mask = MASKED if masked else 0
    if size <= _SHORT:
        return bytes((first, mask | size))
    kind, form = (_TWO_BYTES, "!BBH") if size < 1 << 16 else (_EIGHT_BYTES, "!BBQ")
    return struct.pack(form, first, mask | kind, size)


def measure(begun: bytearray | memoryview) -> tuple[int, int]:
    """Return how long the head is that begins so, with its mask, and once that is there how many bytes follow.

    The first two bytes must be there.
    """
    size = begun[1] & ~MASKED
    end = LEAST_BYTES + {_TWO_BYTES: 2, _EIGHT_BYTES: 8}.get(size, 0)
    if end > LEAST_BYTES:
        size = int.from_bytes(begun[LEAST_BYTES:end], "big")
    return end + (MASK_BYTES if begun[1] & MASKED else 0), size
