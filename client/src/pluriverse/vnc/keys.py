"""Keys by name: those of the W3C's KeyboardEvent, of Universe and all of X's, or the character itself."""

from __future__ import annotations

import difflib
import functools
import sys
from collections.abc import Mapping
from typing import Final

from pluriverse_protocol.keysyms import keysym_names, keysyms
from pluriverse_protocol.limits import MAX_KEYSYM

# A keysym of Latin-1 is the character's own number, any other character's is this plus its number.
UNICODE: Final = 0x0100_0000
LATIN_1: Final = frozenset({*range(0x20, 0x7F), *range(0xA0, 0x100)})

# Names beside X's own, which come before them, and those that ``key_name`` is to give.
_NAMED: Final = {
    0xFF08: "Backspace bksp bsp",
    0xFF09: "Tab",
    0xFF0A: "Linefeed",
    0xFF0B: "Clear",
    0xFF0D: "Enter Return ret",
    0xFF13: "Pause",
    0xFF14: "ScrollLock scrlk",
    0xFF15: "SysReq sysrq Sys_Req",
    0xFF1B: "Escape esc",
    0xFF20: "Multi_key Compose",
    0xFF50: "Home",
    0xFF51: "ArrowLeft Left",
    0xFF52: "ArrowUp Up",
    0xFF53: "ArrowRight Right",
    0xFF54: "ArrowDown Down",
    0xFF55: "PageUp pgup Prior",
    0xFF56: "PageDown pgdn pgdown Next",
    0xFF57: "End",
    0xFF58: "Begin",
    0xFF60: "Select",
    0xFF61: "PrintScreen Print prtscr",
    0xFF62: "Execute",
    0xFF63: "Insert ins",
    0xFF65: "Undo",
    0xFF66: "Redo Again",
    0xFF67: "ContextMenu Menu Apps",
    0xFF68: "Find",
    0xFF69: "Cancel",
    0xFF6A: "Help",
    0xFF6B: "Break",
    0xFF7E: "ModeChange Mode_switch",
    0xFF7F: "NumLock numlk",
    0xFFE1: "Shift ShiftLeft Shift_L lshift",
    0xFFE2: "ShiftRight Shift_R rshift",
    0xFFE3: "Control ctrl ControlLeft Control_L lctrl lcontrol",
    0xFFE4: "ControlRight Control_R rctrl rcontrol",
    0xFFE5: "CapsLock caplk caps",
    0xFFE7: "Meta MetaLeft Meta_L lmeta",
    0xFFE8: "MetaRight Meta_R rmeta",
    0xFFE9: "Alt AltLeft Alt_L lalt option",
    0xFFEA: "AltRight Alt_R ralt",
    0xFE03: "AltGraph AltGr ISO_Level3_Shift",
    0xFFEB: "Super SuperLeft Super_L lsuper os win windows cmd command",
    0xFFEC: "SuperRight Super_R rsuper",
    0xFFED: "Hyper Hyper_L lhyper",
    0xFFEE: "Hyper_R rhyper",
    0xFFFF: "Delete del",
    # The number pad.
    0xFF8D: "NumpadEnter KP_Enter",
    0xFF95: "KP_Home",
    0xFF96: "KP_Left",
    0xFF97: "KP_Up",
    0xFF98: "KP_Right",
    0xFF99: "KP_Down",
    0xFF9A: "KP_PageUp KP_Prior",
    0xFF9B: "KP_PageDown KP_Next",
    0xFF9C: "KP_End",
    0xFF9D: "KP_Begin",
    0xFF9E: "KP_Insert",
    0xFF9F: "KP_Delete",
    0xFFAA: "NumpadMultiply KP_Multiply",
    0xFFAB: "NumpadAdd KP_Add",
    0xFFAC: "NumpadComma KP_Separator",
    0xFFAD: "NumpadSubtract KP_Subtract",
    0xFFAE: "NumpadDecimal KP_Decimal",
    0xFFAF: "NumpadDivide KP_Divide",
    0xFFBD: "NumpadEqual KP_Equal",
    # Characters by their names in X and in the W3C's KeyboardEvent.code.
    0x20: "space spacebar sp sb",
    0x21: "exclam",
    0x22: "quotedbl",
    0x23: "numbersign hash",
    0x24: "dollar",
    0x25: "percent",
    0x26: "ampersand",
    0x27: "apostrophe quote quoteright",
    0x28: "parenleft",
    0x29: "parenright",
    0x2A: "asterisk",
    0x2B: "plus",
    0x2C: "comma",
    0x2D: "minus hyphen",
    0x2E: "period dot",
    0x2F: "slash fslash",
    0x3A: "colon",
    0x3B: "semicolon",
    0x3C: "less",
    0x3D: "equal",
    0x3E: "greater",
    0x3F: "question",
    0x40: "at",
    0x5B: "bracketleft",
    0x5C: "backslash bslash",
    0x5D: "bracketright",
    0x5E: "asciicircum",
    0x5F: "underscore",
    0x60: "grave backquote quoteleft",
    0x7B: "braceleft",
    0x7C: "bar",
    0x7D: "braceright",
    0x7E: "asciitilde tilde",
    0xA0: "nobreakspace nbsp",
    0xAD: "softhyphen",
}

# X has 35 function keys.
_FUNCTION_KEYS: Final = {0xFFBE + number: f"F{number + 1}" for number in range(35)}
_NUMPAD: Final = {0xFFB0 + digit: f"Numpad{digit} KP_{digit}" for digit in range(10)}
_DIGITS: Final = {ord(str(digit)): f"Digit{digit}" for digit in range(10)}
_LETTERS: Final = {ord(letter): f"Key{letter.upper()}" for letter in "abcdefghijklmnopqrstuvwxyz"}
_ALL: Final = {**_NAMED, **_FUNCTION_KEYS, **_NUMPAD}


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


_KEYSYMS: Final = {
    _plain(name): number
    for table in (_LETTERS, _DIGITS, _ALL)
    for number, names in table.items()
    for name in names.split()
}


@functools.cache
def _folded() -> Mapping[str, int]:
    """Return X's names that are distinct without regard to case, hyphens, underscores and spaces."""
    numbers: dict[str, set[int]] = {}
    for name, number in keysyms().items():
        numbers.setdefault(_plain(name), set()).add(number)
    return {name: number for name, (number, *others) in numbers.items() if not others}


def keysym(key: str | int) -> int:
    """Return the X keysym of a key: ``"ArrowUp"``, ``"ctrl"``, ``"F1"``, ``"space"``, ``"a"``, ``"Ä"``, or a keysym.

    One character is that character; everything longer is a name. Case counts where it tells X's names apart alone, as
    in ``eacute`` and ``Eacute``.
    """
    if isinstance(key, int):
        if not 0 < key <= MAX_KEYSYM:
            raise ValueError(f"{key:#x} isn't a keysym: expected 1 to {MAX_KEYSYM:#x}")
        return key
    if len(key) == 1:
        number = ord(key)
        if number in LATIN_1:
            return number
        if key.isprintable():
            return UNICODE + number
    if _plain(key) in _KEYSYMS:
        return _KEYSYMS[_plain(key)]
    if key in keysyms():
        return keysyms()[key]
    others = _folded()
    if _plain(key) in others:
        return others[_plain(key)]
    known = {**others, **_KEYSYMS}
    close = difflib.get_close_matches(_plain(key), known, n=5)
    names = dict.fromkeys(key_name(known[name]) for name in close)
    hint = f"; the nearest: {', '.join(names)}" if names else ""
    raise ValueError(f"unknown key {key!r}{hint}")


def key_name(number: int) -> str:
    """Return a name that ``keysym`` takes for this keysym; its number in hexadecimal where it has none."""
    if number in LATIN_1 and number != ord(" ") and chr(number).isprintable():
        return chr(number)
    if number in _ALL:
        return _ALL[number].split()[0]
    if max(LATIN_1) < number - UNICODE <= sys.maxunicode and chr(number - UNICODE).isprintable():
        return chr(number - UNICODE)
    return keysym_names().get(number, f"{number:#x}")
