"""The keys of ViZDoom's buttons, and the choices in a scenario with given buttons."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

LEFT, UP, RIGHT, DOWN = 0xFF51, 0xFF52, 0xFF53, 0xFF54
SHIFT, CONTROL, ALT = 0xFFE1, 0xFFE3, 0xFFE9
SPACE: Final = 0x20

# By ViZDoom's name of the button; keys as X keysyms.
KEYS: Final = {
    "ATTACK": CONTROL,
    "USE": SPACE,
    "SPEED": SHIFT,
    "STRAFE": ALT,
    "MOVE_FORWARD": UP,
    "MOVE_BACKWARD": DOWN,
    "TURN_LEFT": LEFT,
    "TURN_RIGHT": RIGHT,
    "MOVE_LEFT": ord("a"),
    "MOVE_RIGHT": ord("d"),
    "SELECT_WEAPON1": ord("1"),
    "SELECT_WEAPON2": ord("2"),
    "SELECT_WEAPON3": ord("3"),
    "SELECT_WEAPON4": ord("4"),
    "SELECT_WEAPON5": ord("5"),
    "SELECT_WEAPON6": ord("6"),
    "SELECT_WEAPON7": ord("7"),
    "SELECT_NEXT_WEAPON": ord("e"),
    "SELECT_PREV_WEAPON": ord("q"),
}

OPPOSITES: Final = (
    {"MOVE_FORWARD", "MOVE_BACKWARD"},
    {"TURN_LEFT", "TURN_RIGHT"},
    {"MOVE_LEFT", "MOVE_RIGHT"},
)

# Up to three buttons are few enough to choose each combination; with more a choice is one button.
MAX_COMBINED: Final = 3

Choice = dict[str, Any]


def choices(buttons: Sequence[str]) -> list[Choice]:
    """Return an agent's choices: nothing first, then each button in the scenario's order, then combinations."""
    counts = range(len(buttons) + 1 if len(buttons) <= MAX_COMBINED else 2)
    combined = itertools.chain.from_iterable(itertools.combinations(buttons, count) for count in counts)
    return [_choice(pressed) for pressed in combined if not any(pair <= set(pressed) for pair in OPPOSITES)]


def action(buttons: Sequence[str], held: frozenset[int]) -> list[int]:
    """1 for each button whose key is held, otherwise 0, as ViZDoom takes it."""
    return [int(KEYS[button] in held) for button in buttons]


def _choice(pressed: tuple[str, ...]) -> Choice:
    name = "+".join(button.lower().replace("_", " ") for button in pressed)
    return {"name": name or "wait", "keys": [KEYS[button] for button in pressed]}
