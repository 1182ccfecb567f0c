"""Scripts for the Flash games."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse.adapters.computer import Click
from pluriverse_eval.agents import Seen, hold

from .finding import boxes, centre, coloured, middle


class Racer:
    """Drives at full speed, and leaves a lane before the car in it comes near."""

    LEFT, RIGHT, UP = 1, 2, 3
    LANE: Final = 100

    # How far ahead one looks, and how far ahead a lane has to be free to go into it.
    AHEAD: Final = 280
    BESIDE: Final = 110
    CHANGE_MS: Final = 150.0

    def __init__(self) -> None:
        self._next_ms = 0.0

    def __call__(self, seen: Seen) -> Any:
        """Drive on, or change the lane."""
        own = middle(coloured(seen.picture, (224, 64, 48), 4))
        if own is None or seen.ms < self._next_ms:
            return hold(self.UP)
        cars = [centre(box) for box in boxes(coloured(seen.picture, (59, 111, 208), 4))]
        # The lanes are 1 to 3. A car is in the way until one is past it.
        lane = round(own[0] / self.LANE)
        nearest = {each: max((y for x, y in cars if round(x / self.LANE) == each), default=0.0) for each in (1, 2, 3)}
        free = [each for each in nearest if nearest[each] < own[1] - self.AHEAD]
        if lane in free or not free:
            return hold(self.UP)
        target = min(free, key=lambda each: abs(each - lane))
        way = 1 if target > lane else -1
        if nearest[lane + way] > own[1] - self.BESIDE:
            return hold(self.UP)
        self._next_ms = seen.ms + self.CHANGE_MS
        return hold(self.RIGHT if way > 0 else self.LEFT, 2)


class Shooter:
    """Shoots at the saucer that is lowest, from where the shot meets it."""

    FIRE, LEFT, RIGHT, LEFT_FIRE, RIGHT_FIRE = range(1, 6)

    def __call__(self, seen: Seen) -> Any:
        """Move below it, and fire."""
        gun = middle(coloured(seen.picture, (208, 208, 224)))
        saucers = [box for box in boxes(coloured(seen.picture, (96, 208, 128), 4)) if box[2] - box[0] > 20]
        if gun is None or not saucers:
            return hold(0)
        shots = [centre(box) for box in boxes(coloured(seen.picture, (255, 240, 96), 4))]
        # What a shot is on its way to needs no other.
        free = [box for box in saucers if not any(abs(centre(box)[0] - x) < 20 and y > box[1] for x, y in shots)]
        target, _ = centre(max(free or saucers, key=lambda box: box[3]))
        if abs(target - gun[0]) < 12:
            return hold(self.FIRE)
        return hold(self.LEFT if target < gun[0] else self.RIGHT)


class Lights:
    """Solves the riddle from what is lit, and clicks one lamp after the other."""

    SIDE: Final = 5
    LAMP: Final = 72
    TOP: Final = 40

    def __call__(self, seen: Seen) -> Any:
        """Click all lamps of the solution."""
        lit = coloured(seen.picture, (255, 216, 74), 8)
        half = self.LAMP // 2
        lamps = lit[self.TOP + half : self.TOP + self.SIDE * self.LAMP : self.LAMP, half :: self.LAMP]
        clicks = lights_out(lamps[: self.SIDE, : self.SIDE])
        if not clicks:
            return None
        return [Click(at=(x * self.LAMP + half, self.TOP + y * self.LAMP + half)) for x, y in clicks]


def lights_out(lamps: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return which lamps (column, row) to click so that all go out; as many as any solution has at least, or none."""
    side = len(lamps)
    best: list[tuple[int, int]] | None = None
    # The first row's clicks decide all others: each lamp that is lit still is put out from below.
    for first in range(1 << side):
        left = lamps.copy()
        clicks: list[tuple[int, int]] = []
        for y in range(side):
            row = [bool(first >> x & 1) for x in range(side)] if y == 0 else left[y - 1].tolist()
            for x in np.flatnonzero(row).tolist():
                clicks.append((x, y))
                for column, line in ((x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                    if 0 <= column < side and 0 <= line < side:
                        left[line, column] ^= True
        if not left.any() and (best is None or len(clicks) < len(best)):
            best = clicks
    return best or []
