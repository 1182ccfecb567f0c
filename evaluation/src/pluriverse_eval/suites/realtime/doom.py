"""Scripts for Doom's scenarios, which are seen in 640 by 480 pixels; what is at x 320 is straight ahead."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from pluriverse_eval.agents import Seen, hold

from .finding import Box, boxes, centre, middle, runs

AHEAD: Final = 320
WAIT: Final = 0

# The row of the horizon, how many pixels away the picture's plane is, and how high above the floor one's eye is.
HORIZON: Final = 240
FOCUS: Final = 320
EYE: Final = 41

# How far one walks in a tic, and how many degrees one turns.
WALK: Final = 8.0
TURN: Final = 3.5


def basic(seen: Seen) -> Any:
    """Step aside until the monster, which is blue in part, is straight ahead; then shoot."""
    left, right, attack = 1, 2, 3
    red, green, blue = np.moveaxis(seen.picture[150:350].astype(np.int16), -1, 0)
    monster = middle((blue > red + 40) & (blue > green + 40))
    if monster is None:
        return hold(WAIT)
    if abs(monster[0] - AHEAD) < 20:
        return hold(attack)
    return hold(left if monster[0] < AHEAD else right)


class DefendTheCenter:
    """Turns to what stands out from the wall, and shoots it."""

    LEFT, RIGHT, ATTACK = 1, 2, 3

    # Where monsters reach above the horizon, and how many pixels of a column are of one.
    BAND: Final = slice(218, 250)
    COUNT: Final = 4

    def __call__(self, seen: Seen) -> Any:
        """Turn, or shoot."""
        red, _, blue = np.moveaxis(seen.picture[self.BAND].astype(np.int16), -1, 0)
        columns = (red - blue < 10).sum(axis=0) >= self.COUNT
        found = [run for run in runs(columns) if run[1] - run[0] >= 4]
        if not found:
            return hold(self.RIGHT)
        # The widest is the nearest.
        start, end = max(found, key=lambda run: run[1] - run[0])
        off = (start + end) / 2 - AHEAD
        if abs(off) < max(8, (end - start) / 2):
            return hold(self.ATTACK)
        return hold(self.LEFT if off < 0 else self.RIGHT)


def health_gathering(seen: Seen) -> Any:
    """Go to the medical kit that is soonest reached, or turn until one is seen."""
    left, right, forward, forward_left, forward_right = range(1, 6)
    red, green, blue = np.moveaxis(seen.picture[HORIZON - 5 :].astype(np.int16), -1, 0)
    # Parts of a kit are white; walls aren't.
    kits = boxes((red > 130) & (abs(red - green) < 12) & (abs(red - blue) < 12))
    kits = [box for box in kits if box[2] - box[0] >= 3]
    if not kits:
        return hold(right)
    off = centre(min(kits, key=_tics_to))[0] - AHEAD
    if abs(off) < 25:
        return hold(forward)
    if abs(off) > 140:
        return hold(left if off < 0 else right)
    return hold(forward_left if off < 0 else forward_right)


def _tics_to(box: Box) -> float:
    """Return about how many tics it takes to turn to what stands on the floor, and to walk there."""
    depth = FOCUS * EYE / max(8, box[3] - 5)
    degrees = math.degrees(math.atan(abs(centre(box)[0] - AHEAD) / FOCUS))
    return depth / WALK + degrees / TURN
