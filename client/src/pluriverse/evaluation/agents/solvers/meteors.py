"""A script for Meteors."""

from __future__ import annotations

from typing import Any, Final

from pluriverse.evaluation.agents.agent import Seen, hold

from .finding import boxes, centre, coloured, middle

NOOP, LEFT, RIGHT = range(3)


class Meteors:
    """Flies to the lowest crystal that can be had, and away from meteors."""

    SHIP_Y: Final = 440
    NEAR: Final = 150
    MARGIN: Final = 26

    def __call__(self, seen: Seen) -> Any:
        """Steer."""
        ship = middle(coloured(seen.picture[425:455], (244, 244, 255)))
        if ship is None:
            return hold(NOOP)
        meteors = [
            (centre(box)[0], (box[2] - box[0]) / 2 + self.MARGIN)
            for box in boxes(coloured(seen.picture, (160, 116, 78)) | coloured(seen.picture, (125, 87, 56)))
            if box[3] > self.SHIP_Y - self.NEAR and box[1] < self.SHIP_Y + 12
        ]
        crystals = [centre(box) for box in boxes(coloured(seen.picture[:430], (79, 240, 208)))]

        def danger(x: float) -> float:
            return max((reach - abs(x - at) for at, reach in meteors), default=0.0)

        def worth(x: float) -> float:
            wanted = max(crystals, key=lambda crystal: crystal[1] - abs(crystal[0] - ship[0]), default=(240.0, 0.0))
            between = max((danger(at) for at in range(int(min(x, ship[0])), int(max(x, ship[0])) + 1, 6)), default=0.0)
            return -abs(x - wanted[0]) - 20 * max(danger(x), 0.0) - 12 * max(between, 0.0) - 0.2 * abs(x - ship[0])

        target = max(range(14, 468, 4), key=worth)
        if abs(target - ship[0]) < 4:
            return hold(NOOP)
        return hold(LEFT if target < ship[0] else RIGHT)
