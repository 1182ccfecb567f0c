"""Scripts for MiniGrid and BabyAI: a maze of squares, seen from above, in which each key is a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse.adapters.pictures import Pixels
from pluriverse_eval.agents import Seen, hold

from .finding import Mask, Patience

TURN_LEFT, TURN_RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = range(6)

# Pixels of a square.
SIDE: Final = 32

# Right, down, left, up.
WAYS: Final = ((1, 0), (0, 1), (-1, 0), (0, -1))

COLOURS: Final = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "purple": (112, 39, 195),
    "yellow": (255, 255, 0),
    "grey": (100, 100, 100),
}

# How much the channels of a grey may differ.
GREYISH: Final = 50

# How long a step may take to be seen; one that is taken twice leads astray.
PATIENCE_MS: Final = 1000.0

# How long what is seen has to stay the same: a picture may come in parts, and after a late step another may follow.
STEADY_MS: Final = 60.0

Square = tuple[int, int]


@dataclass(slots=True)
class Grid:
    """What there is in a grid."""

    agent: Square = (0, 0)
    way: int = 0
    things: dict[Square, str] = field(default_factory=dict[Square, str])
    """What stands in the way, and the goal: a colour and a kind."""

    def find(self, *names: str) -> Square | None:
        """Return where the first of some things is."""
        found = {name: at for at, name in self.things.items()}
        return next((found[name] for name in names if name in found), None)


def read_grid(picture: Pixels) -> Grid:
    """Return what a picture shows."""
    grid = Grid()
    for y in range(picture.shape[0] // SIDE):
        for x in range(picture.shape[1] // SIDE):
            tile = picture[y * SIDE + 2 : (y + 1) * SIDE - 1, x * SIDE + 2 : (x + 1) * SIDE - 1]
            there = tile.max(axis=-1) >= 95
            if there.mean() < 0.05:
                continue
            # It may stand in a door.
            red = (tile[..., 0] > 200) & (tile[..., 1:].max(axis=-1) < 90)
            if red.mean() > 0.05 and _kind(red) == "agent":
                grid.agent, grid.way = (x, y), _way(red)
            elif kind := _kind(there):
                colour = _colour(np.median(tile[there], axis=0))
                # A wall and the goal are squares of one colour; a door that is closed is dark within its frame.
                closed = kind == "square" and colour not in ("grey", "green")
                grid.things[x, y] = f"{colour} {'door' if closed else kind}"
    return grid


def _kind(there: Mask) -> str | None:
    """Return what has a shape; None: an open door."""
    xs, ys = np.flatnonzero(there.any(axis=0)), np.flatnonzero(there.any(axis=1))
    width, height = xs[-1] - xs[0] + 1, ys[-1] - ys[0] + 1
    if min(width, height) >= 27:
        return "square" if there.mean() > 0.97 else "door"
    if max(width, height) >= 27:
        return None
    if min(width, height) < 16:
        return "key"
    if abs(width - height) > 2:
        return "agent"
    return "ball" if there[there.shape[0] // 2, there.shape[1] // 2] and width < 22 else "box"


def _way(there: Mask) -> int:
    """Return where a triangle points: from where most of it is to its box's middle."""
    ys, xs = np.nonzero(there)
    across = (xs.min() + xs.max()) / 2 - xs.mean()
    down = (ys.min() + ys.max()) / 2 - ys.mean()
    return WAYS.index((int(np.sign(across)), 0) if abs(across) > abs(down) else (0, int(np.sign(down))))


def _colour(found: NDArray[np.float64]) -> str:
    """Return what a colour is called, also if white shines through it, or if compression has changed it."""
    if np.ptp(found) < GREYISH:
        return "grey"
    coloured = [name for name in COLOURS if name != "grey"]
    return min(coloured, key=lambda name: float(np.abs(_hue(found) - _hue(np.array(COLOURS[name], float))).sum()))


def _hue(colour: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a colour without what white and brightness add to it."""
    return (colour - colour.min()) / np.ptp(colour)


def path(grid: Grid, target: Square) -> list[int]:
    """Return the shortest way to stand before a target, as choices; empty if already there, or without one."""
    right, bottom = (max(along) for along in zip(*grid.things, strict=True))
    begin = grid.agent, grid.way
    ways: dict[tuple[Square, int], list[int]] = {begin: []}
    waiting = deque([begin])
    while waiting:
        state = waiting.popleft()
        (x, y), way = state
        ahead = x + WAYS[way][0], y + WAYS[way][1]
        if ahead == target:
            return ways[state]
        steps = [(TURN_LEFT, ((x, y), (way - 1) % 4)), (TURN_RIGHT, ((x, y), (way + 1) % 4))]
        if ahead not in grid.things and 0 <= ahead[0] <= right and 0 <= ahead[1] <= bottom:
            steps.append((FORWARD, (ahead, way)))
        for choice, reached in steps:
            if reached not in ways:
                ways[reached] = [*ways[state], choice]
                waiting.append(reached)
    return []


class Walker(ABC):
    """Takes one step after the other, and waits until each is seen."""

    def __init__(self) -> None:
        self._patience = Patience(PATIENCE_MS)
        self._grid, self._since = Grid(), 0.0

    def __call__(self, seen: Seen) -> Any:
        """Take a step, or wait: for what the last one did, and for the mission."""
        grid = read_grid(seen.picture)
        if grid != self._grid:
            self._grid, self._since = grid, seen.ms
        if not seen.text or seen.ms < self._since + STEADY_MS:
            return None
        # Lighting changes the picture too, but only this shows that a step was taken.
        if self._patience.waits(seen.ms, np.array((*grid.agent, grid.way, len(grid.things)))):
            return None
        return hold(self.step(seen, grid))

    @abstractmethod
    def step(self, seen: Seen, grid: Grid) -> int:
        """Return the next choice."""


class DoorKey(Walker):
    """Fetches the key, opens the door, and goes to the goal."""

    def step(self, seen: Seen, grid: Grid) -> int:
        """Return the next choice."""
        for target, then in (("yellow key", PICK_UP), ("yellow door", TOGGLE), ("green square", FORWARD)):
            at = grid.find(target)
            if at is not None:
                return next(iter(path(grid, at)), then)
        return FORWARD


class GoToObject(Walker):
    """Goes to what the mission names."""

    def step(self, seen: Seen, grid: Grid) -> int:
        """Return the next choice."""
        colour, kind = seen.text.split()[-2:]
        at = grid.find(f"{colour} {kind}")
        return FORWARD if at is None else next(iter(path(grid, at)), FORWARD)
