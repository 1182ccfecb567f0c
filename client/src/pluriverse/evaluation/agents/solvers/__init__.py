"""Scripted agents, one for a task, or for several: they look at pixels, as every agent has to."""

from __future__ import annotations

from pluriverse.evaluation.agents.agent import loop
from pluriverse.evaluation.play import Play

from .table import SOLVERS


class SolverAgent:
    """Plays the tasks that it has a script for, which are ``tasks``."""

    def __init__(self) -> None:
        self.tasks = tuple(SOLVERS)

    def play(self, play: Play) -> None:
        """Play until the episode is over."""
        loop(play, SOLVERS[play.task.name]())

    def close(self) -> None:
        """Do nothing."""
