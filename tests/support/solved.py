"""The tasks of the shipped suite, and drawings of what its scripts are to see."""

from typing import Any, Final, cast

import numpy as np
from pluriverse.adapters.pictures import Pixels
from pluriverse_eval.agents.agent import Seen
from pluriverse_eval.suite import read_suite

TASKS: Final = {task.name: task for task in read_suite("realtime").tasks}


def blank(width: int, height: int, colour: tuple[int, int, int] = (0, 0, 0)) -> Pixels:
    return np.full((height, width, 3), colour, np.uint8)


def fill(picture: Pixels, box: tuple[int, int, int, int], colour: tuple[int, int, int]) -> None:
    """Paint a box (left, top, right, bottom)."""
    left, top, right, bottom = box
    picture[top:bottom, left:right] = colour


def seen(picture: Pixels, ms: float = 0.0, text: str = "") -> Seen:
    """Return what a script is shown that looks at nothing else."""
    return Seen(picture, text, 0.0, ms, ms == 0, TASKS["pong"], cast("Any", None))
