"""The rules by which key presses reach a page. Pure.

A browser takes most keys with Ctrl, Alt or Super for itself, and which ones changes with each version. So what passes
is listed, not what doesn't: characters, keys that move and edit, and with Ctrl the few that people edit text with.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

# The modifiers of X that mean something here. Caps Lock, Num Lock and AltGr (Mod5) choose characters and nothing else.
# Mod3 keeps clicks of lockstep apart (x11/modifier_lock.py); no key has it.
SHIFT: Final = 1 << 0
CONTROL: Final = 1 << 2
ALT: Final = 1 << 3
SUPER: Final = 1 << 6
COMMANDS: Final = CONTROL | ALT | SUPER

ESCAPE: Final = 0xFF1B

# Keysyms below the functions are characters of old character sets, those far above are Unicode's.
_LAST_ASCII: Final = 0x7E
_FIRST_FUNCTION: Final = 0xFE00
_FIRST_UNICODE: Final = 0x01000000
_LAST_UNICODE: Final = 0x0110FFFF

# Functions that a browser leaves to its page, or does within it: scrolling and moving between fields.
PLAIN_FUNCTIONS: Final = frozenset(
    (
        *(0xFE03, 0xFE20),  # ISO_Level3_Shift, ISO_Left_Tab (Tab with Shift)
        *range(0xFE50, 0xFE70),  # dead keys
        *(0xFF08, 0xFF09, 0xFF0D, 0xFF13, 0xFF14, ESCAPE, 0xFFFF),  # BackSpace Tab Return Pause Scroll_Lock Delete
        *range(0xFF50, 0xFF59),  # Home Left Up Right Down Prior Next End Begin
        *(0xFF63, 0xFF6B, 0xFF7E, 0xFF7F),  # Insert Break Mode_switch Num_Lock
        *range(0xFF80, 0xFF8E),  # KP_Space KP_Tab KP_Enter
        *range(0xFF95, 0xFFBE),  # the keypad from KP_Home to KP_Equal, but for its F1 to F4
        *(0xFFBF, 0xFFC1, 0xFFC5, 0xFFC6),  # F2 F4 F8 F9
        *range(0xFFE1, 0xFFEF),  # Shift Control Caps_Lock Meta Alt Super Hyper
    )
)
MODIFIER_KEYS: Final = frozenset((0xFE03, 0xFF7E, 0xFF7F, *range(0xFFE1, 0xFFEF)))

_LEFT, _UP, _RIGHT, _DOWN, _HOME, _END = 0xFF51, 0xFF52, 0xFF53, 0xFF54, 0xFF50, 0xFF57
_BACKSPACE, _INSERT, _DELETE = 0xFF08, 0xFF63, 0xFFFF
_MOVES: Final = (_LEFT, _UP, _RIGHT, _DOWN, _HOME, _END)


class Combination(NamedTuple):
    """A key, by its keysym without Shift, with the modifiers held: bits of those above."""

    keysym: int
    modifiers: int


# What people edit text with. Shift marks; with it most letters are developers' tools, and Delete clears the history.
EDITING: Final = frozenset(
    (
        *(Combination(ord(letter), CONTROL) for letter in "acvxyz"),
        *(Combination(keysym, CONTROL) for keysym in (*_MOVES, _BACKSPACE, _INSERT, _DELETE)),
        *(Combination(keysym, CONTROL | SHIFT) for keysym in (*_MOVES, ord("z"))),
    )
)


def without_shift(keysym: int) -> int:
    """Return the keysym of a letter's key without Shift; others as they are."""
    return keysym + 0x20 if ord("A") <= keysym <= ord("Z") else keysym


def is_character(keysym: int) -> bool:
    return 0 < keysym < _FIRST_FUNCTION or _FIRST_UNICODE <= keysym <= _LAST_UNICODE


def is_plain(keysym: int) -> bool:
    """Return whether a key that types this may pass while nothing but Shift is held; Escape only without that."""
    return is_character(keysym) or keysym in PLAIN_FUNCTIONS


def is_settled(keysyms: Collection[int]) -> bool:
    """Return whether ordinary keyboards have a key with these keysyms, which passes but for Ctrl, Alt and Super.

    Other characters are on spare keycodes, which may be given another keysym the next moment.
    """
    common = (0 < keysym <= _LAST_ASCII or keysym in PLAIN_FUNCTIONS for keysym in keysyms)
    return bool(keysyms) and ESCAPE not in keysyms and all(common)


def passes(keysyms: Collection[int], state: int, extra: Collection[Combination] = ()) -> bool:
    """Return whether a press reaches the page.

    Args:
        keysyms: what the key means, without Shift and then with it; any of them may be the browser's.
        state: the modifiers held, as X has them.
        extra: combinations that pass beside those that always do.
    """
    if not keysyms:
        return False
    key = without_shift(next(iter(keysyms)))
    held = state & (COMMANDS | SHIFT)
    combination = Combination(key, held)
    if combination in extra or key in MODIFIER_KEYS:
        return True
    if held & COMMANDS:
        return combination in EDITING
    if key == ESCAPE:
        return not held
    return all(map(is_plain, keysyms))
