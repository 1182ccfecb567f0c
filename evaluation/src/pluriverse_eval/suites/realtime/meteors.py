"""A script for Meteors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from pluriverse_eval.agents import Seen, hold

from .finding import boxes, coloured, middle

NOOP, LEFT, RIGHT = range(3)

# The directions in the order of the choices.
DIRECTIONS: Final = (0, -1, 1)

WIDTH: Final = 480
SHIP_Y: Final = 440
SHIP_RADIUS: Final = 12

# Pixels that the ship flies in a step, of which there are 60 a second.
SPEED: Final = 5
STEP_MS: Final = 1000 / 60

# How many steps are planned, and how many pass until a choice is seen to be taken, about.
STEPS: Final = 100
LATENCY: Final = 2

# In real time a page's pictures are compressed, and colours are only nearly what they are.
LOSSY: Final = 16

# What things fall at until it is seen how fast they are, in pixels a step.
USUAL_FALL: Final = 3.5

# What a meteor costs in crystals, if it is touched and if it only comes near.
LOST: Final = 100.0
NEARBY: Final = 0.3

# What a step is worth in which the ship waits below a crystal: it is better early there than late.
EARLY: Final = 0.003

# How near is near, and how much nearer than that isn't sure to be safe.
NEAR: Final = 24
UNSURE: Final = 8


@dataclass(slots=True)
class Thing:
    """What falls: where it is, its radius, and where its lower end was first seen."""

    x: float
    bottom: float
    radius: float
    crystal: bool
    first: tuple[float, float]
    """When, and where."""

    def fall(self, ms: float) -> float:
        """Return how fast it falls, in pixels a step."""
        steps = (ms - self.first[0]) / STEP_MS
        return (self.bottom - self.first[1]) / steps if steps >= 4 else USUAL_FALL


class Meteors:
    """Plans the way to most crystals that keeps clear of all meteors, and flies its first step."""

    def __init__(self) -> None:
        self._things: list[Thing] = []
        self._choice = NOOP

    def __call__(self, seen: Seen) -> Any:
        """Steer."""
        ship = middle(coloured(seen.picture[SHIP_Y - 12 : SHIP_Y + 12], (244, 244, 255), LOSSY))
        if ship is None:
            return hold(NOOP)
        self._look(seen)
        # Until a choice is taken the ship flies on.
        at = ship[0] + LATENCY * SPEED * DIRECTIONS[self._choice]
        worth = self._plan(seen.ms)
        x = int(np.clip(at, SHIP_RADIUS, WIDTH - SHIP_RADIUS - 1))
        self._choice = max((NOOP, LEFT, RIGHT), key=lambda choice: worth[x + SPEED * DIRECTIONS[choice]])
        return hold(self._choice)

    def _look(self, seen: Seen) -> None:
        """Note where things are now."""
        # Every other pixel will do, and is seen sooner.
        picture = seen.picture[::2, ::2]
        meteors = coloured(picture, (160, 116, 78), LOSSY) | coloured(picture, (125, 87, 56), LOSSY)
        found: list[Thing] = []
        for crystal, mask in ((False, meteors), (True, coloured(picture, (79, 240, 208), LOSSY))):
            for left, _, right, low in boxes(mask):
                bottom = 2 * low
                thing = Thing(left + right - 0.5, bottom, right - left, crystal, (seen.ms, bottom))
                # They fall straight down: what was above it is the same.
                for before in self._things:
                    if before.crystal == crystal and abs(before.x - thing.x) <= 4 and -4 <= bottom - before.bottom < 40:
                        thing.first = before.first
                found.append(thing)
        self._things = found

    def _plan(self, ms: float) -> Any:
        """Return what it is worth to be at each x in the next step."""
        across = np.arange(WIDTH, dtype=float)
        gains = np.zeros((STEPS, WIDTH))
        for thing in self._things:
            reach = thing.radius + SHIP_RADIUS
            left, right = max(0, int(thing.x - reach - NEAR)), int(thing.x + reach + NEAR)
            distance = np.abs(across[left:right] - thing.x)
            fall = thing.fall(ms)
            below = thing.bottom - thing.radius + fall * (LATENCY + 1 + np.arange(STEPS)) - SHIP_Y
            if thing.crystal:
                step = int(np.argmin(np.abs(below)))
                if abs(below[step]) < fall:
                    gains[step, left:right] += distance < reach - UNSURE
                    gains[:step, left:right] += EARLY * np.clip(1 - distance / reach, 0, 1)
                continue
            steps = np.flatnonzero(np.abs(below) < reach + NEAR)
            gap = np.hypot(distance[None, :], below[steps, None]) - reach
            gains[steps, left:right] -= NEARBY * np.clip(1 - gap / NEAR, 0, 1) ** 2 + LOST * (gap < UNSURE)
        worth = np.zeros(WIDTH)
        for gain in gains[::-1]:
            worth = gain + _best(worth)
        return worth


def _best(worth: Any) -> Any:
    """Return the most that is worth of what can be reached in a step from each x."""
    best = worth.copy()
    best[SPEED:] = np.maximum(best[SPEED:], worth[:-SPEED])
    best[:-SPEED] = np.maximum(best[:-SPEED], worth[SPEED:])
    best[:SHIP_RADIUS] = best[-SHIP_RADIUS:] = -LOST
    return best
