"""The inputs of gamepads, by the names of their events. Pure.

Sticks are the axes X, Y and Rx, Ry, from -1 (left, up) to 1, triggers Z and Rz, from 0 to 1; buttons are 0 or 1.
"""

from __future__ import annotations

from typing import Final

from .limits import MAX_PADS

AXES: Final = ("X", "Y", "Z", "Rx", "Ry", "Rz")
TRIGGERS: Final = (2, 5)
LEAST: Final = tuple(0.0 if axis in TRIGGERS else -1.0 for axis in range(len(AXES)))

BUTTONS: Final = 16

_INPUTS: Final = (*(f"Axis{axis}" for axis in AXES), *(f"Button{number}" for number in range(BUTTONS)))

NAMES: Final = tuple(
    tuple(f"Joystick{pad if pad > 1 else ''}{name}Event" for name in _INPUTS) for pad in range(1, MAX_PADS + 1)
)
"""Of each pad the events of its axes, and then of its buttons."""

PLACES: Final = {name: (pad, number) for pad, names in enumerate(NAMES) for number, name in enumerate(names)}
"""The pad and the number of each input, from 0, by its event's name."""


def fitted(number: int, value: float) -> float:
    """Return the value that an input takes, given any."""
    if number >= len(AXES):
        return float(value >= 0.5)
    return min(max(value, LEAST[number]), 1.0)
