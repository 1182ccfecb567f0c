"""Scripts for problems of classic control, which Gymnasium draws as simple shapes."""

from __future__ import annotations

import math
from typing import Any, Final

from pluriverse_eval.agents import Seen, hold

from .finding import Motion, coloured, middle

LEFT, NONE, RIGHT = range(3)


class CartPole:
    """Pushes towards where the pole falls, and leans it towards the middle."""

    POLE: Final = (202, 152, 101)
    AXLE: Final = (129, 132, 203)
    LOOK_AHEAD_MS: Final = 200.0

    def __init__(self) -> None:
        self._cart, self._top = Motion(), Motion()

    def __call__(self, seen: Seen) -> Any:
        """Push left or right: there is nothing between."""
        pole = middle(coloured(seen.picture, self.POLE, 8))
        cart = middle(coloured(seen.picture, self.AXLE, 8))
        if pole is None or cart is None:
            return hold(0)
        self._top.note(seen.ms, pole)
        self._cart.note(seen.ms, cart)
        lean = pole[0] - cart[0]
        falls = self._top.speed[0] - self._cart.speed[0]
        away = cart[0] - 300 + 1700 * self._cart.speed[0]
        return hold(int(lean + self.LOOK_AHEAD_MS * falls + 0.02 * away > 0))


class MountainCar:
    """Pushes the way that the car will roll when the push comes, which follows from the slope below it."""

    WHEELS: Final = (128, 128, 128)
    LOOK_AHEAD_MS: Final = 75.0

    # The hills are a sine: where it is lowest, pixels for a radian, and what pulls where it is steepest.
    VALLEY: Final = 225.0
    RADIAN: Final = 111.0
    PULL: Final = 0.00075
    PUSH: Final = 0.0003

    def __init__(self) -> None:
        self._car = Motion()
        self._way = RIGHT

    def __call__(self, seen: Seen) -> Any:
        """Push on."""
        car = middle(coloured(seen.picture, self.WHEELS, 2))
        self._car.note(seen.ms, car)
        if car is not None:
            pull = -self.PULL * math.sin((car[0] - self.VALLEY) / self.RADIAN)
            push = self.PUSH if self._way == RIGHT else -self.PUSH
            rolls = self._car.speed[0] + self.LOOK_AHEAD_MS * (pull + push)
            if rolls:
                self._way = RIGHT if rolls > 0 else LEFT
        return hold(self._way)


class Acrobot:
    """Swings the lower link the way that the upper one swings, so that both go higher."""

    JOINT: Final = (204, 204, 0)
    PIVOT: Final = (250.0, 250.0)

    def __init__(self) -> None:
        self._elbow = Motion()

    def __call__(self, seen: Seen) -> Any:
        """Turn the elbow."""
        joints = coloured(seen.picture, self.JOINT, 2)
        joints[237:264, 237:264] = False
        elbow = middle(joints)
        if elbow is None:
            return hold(NONE)
        angle = math.atan2(elbow[0] - self.PIVOT[0], elbow[1] - self.PIVOT[1])
        self._elbow.note(seen.ms, (angle, 0.0))
        return hold(RIGHT if self._elbow.speed[0] < 0 else LEFT)
