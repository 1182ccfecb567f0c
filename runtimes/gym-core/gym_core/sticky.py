"""The action that an emulator with sticky actions may repeat. Pure.

ale-py's state lacks it. But it ends with the Mersenne Twister that decides, and of its numbers two are drawn for each
frame: the first says whether the player's action is repeated. So those of the last frames say which one was taken.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from .emulators import AFTER_STRING, STRING_AT, generator

# A generator with this seed draws a number of 0.99997 first, at which nothing is repeated.
LUCKY_SEED: Final = 21159
LUCK: Final = 0.9999

DRAWS: Final = 2

_DIGITS: Final = b"0123456789 "


def taken(serialized: bytes, probability: float, asked: Sequence[int]) -> int | None:
    """Return the action that was taken last, of those that were asked for, a frame each; None if that isn't known."""
    *words, drawn = map(int, serialized[_generator_at(serialized) : -AFTER_STRING].split())
    for action in reversed(asked):
        drawn -= DRAWS
        if drawn < 0:
            # The numbers before these are gone.
            return None
        if _tempered(words[drawn]) / 2**32 >= probability:
            return action
    return None


def with_luck(serialized: bytes) -> bytes:
    """Return a state in which the next frame takes the action that it is asked for."""
    # The generator's length precedes it.
    start = _generator_at(serialized) - 4
    text = serialized[STRING_AT + 4 : start] + generator(LUCKY_SEED)
    return serialized[:STRING_AT] + struct.pack("<i", len(text)) + text + serialized[-AFTER_STRING:]


def _generator_at(serialized: bytes) -> int:
    return len(serialized[:-AFTER_STRING].rstrip(_DIGITS))


def _tempered(word: int) -> int:
    """Return the number that the generator makes of a word of its state."""
    word ^= word >> 11
    word ^= word << 7 & 0x9D2C5680
    word ^= word << 15 & 0xEFC60000
    return word ^ word >> 18
