"""Scripted agents, one for a task, or for several: they look at pixels, as every agent has to."""

from __future__ import annotations

from pluriverse.evaluation.agents.agent import AgentFailed, Decide, loop
from pluriverse.evaluation.play import Play

from .table import SOLVERS


class SolverAgent:
    """Plays tasks that it has a script for."""

    def play(self, play: Play) -> None:
        """Play until the episode is over; raise AgentFailed if there is no script for the task."""
        make = SOLVERS.get(play.task.name)
        if make is None:
            raise AgentFailed(f"there is no script for {play.task.name}")
        decide: Decide = make()
        loop(play, decide)

    def close(self) -> None:
        """Do nothing."""
