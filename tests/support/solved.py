"""Plays tasks of the shipped suite with its scripts, and draws what they are to see."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final, cast

import numpy as np
from pluriverse.adapters.pictures import Pixels
from pluriverse_eval.agents.agent import Seen
from pluriverse_eval.agents.scripted import ScriptedAgent
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from pluriverse_eval.suite import Task, read_suite
from support.remotes import RemoteUnderTest

TASKS: Final = {task.name: task for task in read_suite("realtime").tasks}

# Of environments that aren't called as their runtimes are.
RUNTIMES: Final = {"wob": "world-of-bits"}

Earned = Callable[..., tuple[Task, float]]
Start = Callable[..., AbstractContextManager[RemoteUnderTest]]


def play(start: Start, name: str, seed: int = 0, seconds: float | None = None) -> tuple[Task, float]:
    """Play a task with its script in lockstep, for less than its time if ``seconds`` says so."""
    task = TASKS[name] if seconds is None else TASKS[name].model_copy(update={"seconds": seconds})
    runtime = RUNTIMES.get(prefix := task.env.partition(".")[0], prefix)
    (paused,) = parse_modes("paused")
    with start(runtime=runtime) as remote, Play(task, paused, remote.address) as computer:
        computer.start(seed, paused)
        ScriptedAgent().play(computer)
        return task, computer.earned


def blank(width: int, height: int, colour: tuple[int, int, int] = (0, 0, 0)) -> Pixels:
    """Return a picture of one colour."""
    return np.full((height, width, 3), colour, np.uint8)


def fill(picture: Pixels, box: tuple[int, int, int, int], colour: tuple[int, int, int]) -> None:
    """Paint a box (left, top, right, bottom)."""
    left, top, right, bottom = box
    picture[top:bottom, left:right] = colour


def seen(picture: Pixels, ms: float = 0.0, text: str = "") -> Seen:
    """Return what a script is shown that looks at nothing else."""
    return Seen(picture, text, 0.0, ms, ms == 0, TASKS["pong"], cast("Any", None))
