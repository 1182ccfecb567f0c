"""What a page is told of each printable character of ASCII that is typed on a US keyboard."""

from __future__ import annotations

import string
from typing import Final

_CODES: Final = {
    **{f"{letter}{letter.upper()}": f"Key{letter.upper()}" for letter in string.ascii_lowercase},
    **{f"{digit}{shifted}": f"Digit{digit}" for digit, shifted in zip(string.digits, ")!@#$%^&*(", strict=True)},
    "`~": "Backquote",
    "-_": "Minus",
    "=+": "Equal",
    "[{": "BracketLeft",
    "]}": "BracketRight",
    "\\|": "Backslash",
    ";:": "Semicolon",
    "'\"": "Quote",
    ",<": "Comma",
    ".>": "Period",
    "/?": "Slash",
    " ": "Space",
}
# Of those that aren't ASCII's: https://w3c.github.io/uievents/#fixed-virtual-key-codes, and Chromium's own.
_KEY_CODES: Final = {
    "Backquote": 192,
    "Minus": 189,
    "Equal": 187,
    "BracketLeft": 219,
    "BracketRight": 221,
    "Backslash": 220,
    "Semicolon": 186,
    "Quote": 222,
    "Comma": 188,
    "Period": 190,
    "Slash": 191,
    "Space": 32,
}

KEYS: Final = {
    character: (character, code, _KEY_CODES.get(code, ord(code[-1])))
    for characters, code in _CODES.items()
    for character in characters
}
"""``key``, ``code`` and ``keyCode`` of a ``KeyboardEvent``, by character."""

LISTEN: Final = """
  const typed = [];
  addEventListener("keydown", ({ key, code, keyCode }) => { if (key !== "Shift") typed.push([key, code, keyCode]) });
"""
"""A page's script that notes them in ``typed``."""
