"""Keys as SDL has them, as keysyms of X. Pure."""

from __future__ import annotations

from typing import Final

from pluriverse.vnc.keys import keysym

# Parts of SDL's names that ``keysym`` knows by others.
_NAMES: Final = {
    "Left Ctrl": "Control_L",
    "Left Shift": "Shift_L",
    "Left Alt": "Alt_L",
    "Left GUI": "Super_L",
    "Right Ctrl": "Control_R",
    "Right Shift": "Shift_R",
    "Right Alt": "Alt_R",
    "Right GUI": "Super_R",
    "ModeSwitch": "AltGr",
}
_NUMPAD: Final = {"/": "Divide", "*": "Multiply", "-": "Subtract", "+": "Add", ".": "Decimal", "=": "Equal"}
_UNLOCKED: Final = ("Insert", "End", "Down", "Next", "Left", "Begin", "Right", "Home", "Up", "Prior")
_WITHOUT_NUM_LOCK: Final = {**{str(digit): name for digit, name in enumerate(_UNLOCKED)}, ".": "Delete"}


def keysym_of(name: str, typed: str, *, shift: bool = False, num_lock: bool = False) -> int | None:
    """Return the keysym of a key with this ``name`` on its layout, which ``typed`` this; None: it has none."""
    _, numpad, key = name.rpartition("Keypad ")
    if numpad:
        unlocked = None if num_lock else _WITHOUT_NUM_LOCK.get(key)
        name = f"KP_{unlocked or _NUMPAD.get(key, key)}"
    elif typed.isprintable() and typed:
        name = typed
    elif len(name) == 1:
        # With Ctrl a key types nothing, or a control character.
        name = name if shift else name.lower()
    try:
        return keysym(_NAMES.get(name, name))
    except ValueError:
        return None
