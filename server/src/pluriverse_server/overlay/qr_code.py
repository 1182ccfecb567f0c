"""QR codes of one size: 25 by 25 modules, of up to 32 bytes (version 2 of ISO/IEC 18004, level L, mask 0). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

SIZE: Final = 25
MAX_BYTES: Final = 32

_DATA_BYTES, _CHECK_BYTES = 34, 10
_BYTE_MODE: Final = 0b0100
_PADDING: Final = b"\xec\x11"
_FIELD: Final = 0x11D  # of the check bytes: x^8 + x^4 + x^3 + x^2 + 1

# Level L and mask 0, with their own check bits, the lowest first.
_FORMAT: Final = [0b111011111000100 >> place & 1 for place in range(15)]

Modules = list[list[int]]
"""Rows of modules, 1 for dark."""


def encode(text: bytes) -> Modules:
    """Return the code of ``text``, without the four light modules that it needs around it.

    Raises:
        ValueError: it is too long.
    """
    if len(text) > MAX_BYTES:
        raise ValueError(f"{len(text)} bytes, over {MAX_BYTES}")
    said = int.from_bytes(bytes([_BYTE_MODE, len(text), *text]), "big") << 4
    data = said.to_bytes(len(text) + 3, "big")[1:]  # the mode has four bits
    data += (_PADDING * _DATA_BYTES)[: _DATA_BYTES - len(data)]
    bits = int.from_bytes(data + _check_bytes(data), "big")
    modules = [[dark or 0 for dark in row] for row in _pattern()]
    count = (_DATA_BYTES + _CHECK_BYTES) * 8
    for place, (row, column) in enumerate(_free()):
        bit = bits >> (count - 1 - place) & 1 if place < count else 0
        modules[row][column] = bit ^ (row + column + 1) % 2
    return modules


def _check_bytes(data: bytes) -> bytes:
    """Return the remainder of the data by the generator."""
    rest = [*data, *bytes(_CHECK_BYTES)]
    for place in range(len(data)):
        for offset, factor in enumerate(_generator(), 1):
            rest[place + offset] ^= _times(factor, rest[place])
    return bytes(rest[len(data) :])


@cache
def _generator() -> list[int]:
    """Return the factors of (x - 1)(x - 2)(x - 4)…, the highest power's left out."""
    factors = [1]
    root = 1
    for _ in range(_CHECK_BYTES):
        longer = [*factors, 0]
        for place, factor in enumerate(factors, 1):
            longer[place] ^= _times(factor, root)
        factors, root = longer, _times(root, 2)
    return factors[1:]


@cache
def _times(a: int, b: int) -> int:
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = a << 1, b >> 1
        a ^= _FIELD * (a >> 8)
    return product


@cache
def _pattern() -> list[list[int | None]]:
    """Return what is the same in every code; None for modules that are free for data."""
    modules: list[list[int | None]] = [[None] * SIZE for _ in range(SIZE)]
    for place in range(SIZE):
        modules[6][place] = modules[place][6] = 1 - place % 2
    for row, column, reach in ((3, 3, 4), (3, SIZE - 4, 4), (SIZE - 4, 3, 4), (SIZE - 7, SIZE - 7, 2)):
        for y in range(max(0, row - reach), min(SIZE, row + reach + 1)):
            for x in range(max(0, column - reach), min(SIZE, column + reach + 1)):
                ring = max(abs(y - row), abs(x - column))
                modules[y][x] = int(ring in (0, 2) if reach == 2 else ring not in (2, 4))
    for place, dark in enumerate(_FORMAT):
        down = place + (place > 5) if place < 8 else SIZE - 15 + place
        modules[down][8] = dark
        left = SIZE - 1 - place if place < 8 else 15 - place - (place > 8)
        modules[8][left] = dark
    modules[SIZE - 8][8] = 1
    return modules


@cache
def _free() -> list[tuple[int, int]]:
    """Return the rows and columns of free modules in their order: up and down in pairs of columns from the right."""
    return [(row, column) for row, column in _zigzag() if _pattern()[row][column] is None]


def _zigzag() -> Iterator[tuple[int, int]]:
    upwards = True
    for right in (*range(SIZE - 1, 6, -2), 5, 3, 1):
        for row in reversed(range(SIZE)) if upwards else range(SIZE):
            yield from ((row, right), (row, right - 1))
        upwards = not upwards
