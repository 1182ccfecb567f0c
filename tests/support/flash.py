"""The games of runtimes/flashgames by their rules, to compare with what the movies pay."""

from __future__ import annotations

import math
from typing import Final

MODULUS: Final = 2**31 - 1


class Random:
    """games/Random.hx."""

    def __init__(self, seed: int) -> None:
        self._state = seed % (MODULUS - 1) + 1
        for _ in range(4):
            self.below(1)

    def below(self, limit: int) -> int:
        self._state = self._state * 16807 % MODULUS
        return int(self._state / MODULUS * limit)


# ── Racer ───────────────────────────────────────────────────────────────────────────────────────────────────────────

CARS: Final = 20


def racer_lanes(seed: int) -> list[int]:
    """The lane of each car on the road, the first first; one's own is 1 at the start."""
    random = Random(seed)
    return [random.below(3) for _ in range(CARS)]


# ── Puzzle ──────────────────────────────────────────────────────────────────────────────────────────────────────────

SIZE: Final = 5


class Lamps:
    """Lights out. ``solution`` are the lamps to click, each once, as (column, row)."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.lit: set[tuple[int, int]] = set()
        self.solution: set[tuple[int, int]] = set()
        while not self.lit:
            for _ in range(12):
                lamp = random.below(SIZE), random.below(SIZE)
                self.solution ^= {lamp}
                self.click(*lamp)

    @property
    def dark(self) -> int:
        return SIZE * SIZE - len(self.lit)

    def click(self, column: int, row: int) -> None:
        around = {(column, row), (column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)}
        self.lit ^= {(x, y) for x, y in around if 0 <= x < SIZE and 0 <= y < SIZE}


def lamp_place(column: int, row: int) -> tuple[int, int]:
    """Where on the screen a lamp is."""
    return math.floor((column + 0.5) * 72), math.floor(40 + (row + 0.5) * 72)
