"""DES of one block (FIPS 46-3), for VNC authentication and nothing else: it is broken."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

BLOCK_BYTES: Final = 8

# The standard's tables: for each bit of the output the number of the input's bit, from 1 at the left.
_INITIAL: Final = tuple(column - 8 * row for column in (58, 60, 62, 64, 57, 59, 61, 63) for row in range(8))
_FINAL: Final = tuple(_INITIAL.index(bit) + 1 for bit in range(1, 65))
# fmt: off
_PERMUTATION: Final = (
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10,
    2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
)
_KEY_CHOICE: Final = (
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
    63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
)
_ROUND_KEY_CHOICE: Final = (
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
)
# fmt: on
_ROTATIONS: Final = (1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1)
# One substitution box a line, its four rows one after the other.
_BOXES: Final = (
    0xE4D12FB83A6C59070F74E2D1A6CB953841E8D62BFC973A50FC8249175B3EA06D,
    0xF18E6B34972DC05A3D47F28EC01A69B50E7BA4D158C6932FD8A13F42B67C05E9,
    0xA09E63F51DC7B428D709346A285ECBF1D6498F30B12C5AE71AD069874FE3B52C,
    0x7DE3069A1285BC4FD8B56F03472C1AE9A690CB7DF13E52843F06A1D8945BC72E,
    0x2C417AB6853FD0E9EB2C47D150FA3986421BAD78F9C5630EB8C71E2D6F09A453,
    0xC1AF92680D34E75BAF427C9561DE0B389EF528C3704A1DB6432C95FABE17608D,
    0x4B2EF08D3C975A61D0B7491AE35C2F8614BDC37EAF6805926BD814A7950FE23C,
    0xD2846FB1A93E50C71FD8A374C56B0E927B419CE206ADF35821E74A8DFC90356B,
)


# How many keys are kept ready: a server compares each answer with that of each of its tokens.
_KEPT_KEYS: Final = 128


def encrypt_block(key: bytes, block: bytes) -> bytes:
    """Encrypt eight bytes with a key of eight, of which each byte's lowest bit is ignored."""
    bits = _select(int.from_bytes(block, "big"), 64, _INITIAL)
    left, right = bits >> 32, bits & 0xFFFFFFFF
    for round_key in _round_keys(key):
        left, right = right, left ^ _mix(right, round_key)
    return _select(right << 32 | left, 64, _FINAL).to_bytes(BLOCK_BYTES, "big")


@lru_cache(_KEPT_KEYS)
def _round_keys(key: bytes) -> tuple[int, ...]:
    chosen = _select(int.from_bytes(key, "big"), 64, _KEY_CHOICE)
    high, low = chosen >> 28, chosen & 0xFFFFFFF
    keys: list[int] = []
    for count in _ROTATIONS:
        high, low = _rotate(high, count), _rotate(low, count)
        keys.append(_select(high << 28 | low, 56, _ROUND_KEY_CHOICE))
    return tuple(keys)


def _rotate(half: int, count: int) -> int:
    return (half << count | half >> (28 - count)) & 0xFFFFFFF


def _mix(half: int, round_key: int) -> int:
    # The expansion: groups of four bits, each with its two neighbours, around the end as well.
    around = (half & 1) << 33 | half << 1 | half >> 31
    mixed = 0
    for index, substituted in enumerate(_SUBSTITUTED):
        mixed |= substituted[(around >> (28 - 4 * index) ^ round_key >> (42 - 6 * index)) & 0x3F]
    return mixed


def _select(bits: int, width: int, table: Sequence[int]) -> int:
    selected = 0
    for position in table:
        selected = selected << 1 | bits >> (width - position) & 1
    return selected


def _substitute(index: int, six: int) -> int:
    """Return what a box makes of six bits, in its place among the 32, permuted."""
    # The outer two bits are the row, the inner four the column.
    entry = (six >> 4 & 2 | six & 1) * 16 + (six >> 1 & 15)
    return _select((_BOXES[index] >> (4 * (63 - entry)) & 15) << (28 - 4 * index), 32, _PERMUTATION)


_SUBSTITUTED: Final = tuple(tuple(_substitute(index, six) for six in range(64)) for index in range(len(_BOXES)))
