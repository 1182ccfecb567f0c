"""Keys as models name them: by the names of X, of the web, and of either's habits. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pluriverse.errors import ActionError
from pluriverse.vnc.keys import keysym

# More keys than these at once are no chord.
MAX_CHORD: Final = 8

XF86_BACK: Final = 0x1008FF26
XF86_FORWARD: Final = 0x1008FF27

# Names that the table of pluriverse.vnc.keys leaves to programs of their own kind.
_OTHERS: Final = {
    "add": 0xFFAB,
    "subtract": 0xFFAD,
    "multiply": 0xFFAA,
    "divide": 0xFFAF,
    "decimal": 0xFFAE,
    "pipe": ord("|"),
    "backtick": ord("`"),
    "caret": ord("^"),
    "browserback": XF86_BACK,
    "browserforward": XF86_FORWARD,
    "control_or_meta": 0xFFE3,
    "controlormeta": 0xFFE3,
}

# What text has that is a key of another name.
_CONTROLS: Final = {"\n": 0xFF0D, "\r": 0xFF0D, "\t": 0xFF09, "\b": 0xFF08, "\x1b": 0xFF1B, "\x7f": 0xFFFF}


def key(name: str) -> int:
    other = _OTHERS.get(name.lower())
    if other is not None:
        return other
    try:
        return keysym(name)
    except ValueError as error:
        raise ActionError(str(error)) from None


def chord(names: str) -> tuple[int, ...]:
    """Return the keysyms of keys joined by ``+``: ``"ctrl+shift+s"``, ``"+"``; as ``together``."""
    parts = names.strip().split("+")
    # A plus by itself, or at the end of a chord.
    if parts[-2:] == ["", ""]:
        parts[-2:] = ["+"]
    if not all(part.strip() for part in parts):
        raise ActionError(f"{names!r:.80} isn't a key; expected keys joined by +, such as ctrl+s")
    return together([part.strip() for part in parts])


def together(names: Sequence[str]) -> tuple[int, ...]:
    """Return the keysyms of keys that are held together, in the order in which they are pressed."""
    if len(names) > MAX_CHORD:
        raise ActionError(f"{len(names)} keys at once; at most {MAX_CHORD} can be held")
    # Beside another key a letter is its key: CTRL and C are not Control, Shift and c.
    return tuple(key(name.lower() if len(name) == 1 < len(names) else name) for name in names)


def typed(character: str) -> int:
    control = _CONTROLS.get(character)
    if control is not None:
        return control
    try:
        return keysym(character)
    except ValueError:
        # A space of some kind, a mark or the like: X has a keysym for every character.
        if ord(character) >= 0xA0:
            return 0x0100_0000 + ord(character)
        raise ActionError(f"no key writes the character U+{ord(character):04X}") from None
