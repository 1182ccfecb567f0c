"""Gamepads of this desktop that SDL knows the layout of, as the remote's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import pygame
from pluriverse_protocol.pads import NAMES, fitted
from pygame._sdl2 import controller

# SDL's numbers of the remote's axes and buttons.
_AXES: Final = (0, 1, 4, 2, 3, 5)
_BUTTONS: Final = (0, 1, 2, 3, 9, 10, 4, 6, 5, 7, 8, 11, 12, 13, 14, 15)
_FULL: Final = 0x7FFF

# A stick that nobody touches isn't quite in its middle.
DEAD: Final = 0.1


class Gamepads:
    """The first ``count`` of them."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pads: list[controller.Controller] = []
        if count:
            controller.init()

    def find(self) -> None:
        """Take those that are plugged in now; SDL has an event for each, also at first."""
        known = filter(controller.is_controller, range(pygame.joystick.get_count()))
        self._pads = [controller.Controller(number) for number in islice(known, self._count)]

    def held(self) -> dict[str, float]:
        """Return what isn't at rest, by the names of events."""
        each = zip(NAMES, self._pads, strict=False)
        return {name: value for names, pad in each for name, value in zip(names, _values(pad), strict=True) if value}


def _values(pad: controller.Controller) -> Iterator[float]:
    for number, axis in enumerate(_AXES):
        value = fitted(number, pad.get_axis(axis) / _FULL)
        yield value if abs(value) >= DEAD else 0.0
    for button in _BUTTONS:
        yield float(pad.get_button(button))
