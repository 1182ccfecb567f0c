"""DES of one block (FIPS 46-3): all that VNC authentication needs, and no library that is installed here offers it."""

from __future__ import annotations

from typing import Final

# Every table counts bits from 1, the most significant, as the standard prints it.
_IP: Final = [start - 8 * row for start in (58, 60, 62, 64, 57, 59, 61, 63) for row in range(8)]
_FP: Final = [start + offset for start in (0, -1, -2, -3, -4, -5, -6, -7) for offset in (40, 8, 48, 16, 56, 24, 64, 32)]
_E: Final = [(4 * group + offset - 1) % 32 + 1 for group in range(8) for offset in range(6)]
_P: Final = [
    *(16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10),
    *(2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25),
]
_PC1: Final = [
    *(57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36),
    *(63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4),
]
_PC2: Final = [
    *(14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2),
    *(41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32),
]
_SHIFTS: Final = (1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1)
# Each string is one S-box: four rows of sixteen hexadecimal digits.
_S: Final = [
    bytes(int(digit, 16) for digit in box)
    for box in (
        "e4d12fb83a6c59070f74e2d1a6cb953841e8d62bfc973a50fc8249175b3ea06d",
        "f18e6b34972dc05a3d47f28ec01a69b50e7ba4d158c6932fd8a13f42b67c05e9",
        "a09e63f51dc7b428d709346a285ecbf1d6498f30b12c5ae71ad069874fe3b52c",
        "7de3069a1285bc4fd8b56f03472c1ae9a690cb7df13e52843f06a1d8945bc72e",
        "2c417ab6853fd0e9eb2c47d150fa3986421bad78f9c5630eb8c71e2d6f09a453",
        "c1af92680d34e75baf427c9561de0b389ef528c3704a1db6432c95fabe17608d",
        "4b2ef08d3c975a61d0b7491ae35c2f8614bdc37eaf6805926bd814a7950fe23c",
        "d2846fb1a93e50c71fd8a374c56b0e927b419ce206adf35821e74a8dfc90356b",
    )
]


def encrypt_block(key: bytes, block: bytes | bytearray) -> bytes:
    """One 8-byte block encrypted with an 8-byte key, of which each byte's lowest bit is ignored."""
    halves = _permuted(_bits(key), _PC1)
    left_key, right_key = halves[:28], halves[28:]
    bits = _permuted(_bits(block), _IP)
    left, right = bits[:32], bits[32:]
    for shift in _SHIFTS:
        left_key, right_key = left_key[shift:] + left_key[:shift], right_key[shift:] + right_key[:shift]
        mixed = _mixed(right, _permuted(left_key + right_key, _PC2))
        left, right = right, [a ^ b for a, b in zip(left, mixed, strict=True)]
    return int("".join(map(str, _permuted(right + left, _FP))), 2).to_bytes(8, "big")


def _mixed(half: list[int], subkey: list[int]) -> list[int]:
    mixed = [a ^ b for a, b in zip(_permuted(half, _E), subkey, strict=True)]
    out: list[int] = []
    for index, box in enumerate(_S):
        first, *middle, last = mixed[6 * index : 6 * index + 6]
        value = box[(2 * first + last) * 16 + int("".join(map(str, middle)), 2)]
        out += [value >> shift & 1 for shift in (3, 2, 1, 0)]
    return _permuted(out, _P)


def _permuted(bits: list[int], table: list[int]) -> list[int]:
    return [bits[position - 1] for position in table]


def _bits(data: bytes | bytearray) -> list[int]:
    return [octet >> shift & 1 for octet in data for shift in range(7, -1, -1)]
