"""The agent that plays tasks by the scripts that their suite has for them."""

from __future__ import annotations

import contextlib

from pluriverse_eval.play import Play

from .python import python_agent


class ScriptedAgent:
    """Plays tasks that have a script, of a suite that ``suite.scripted`` has returned."""

    def play(self, play: Play) -> None:
        """Play until the episode is over; raise ConfigurationError if the script can't be imported."""
        module, _, name = (play.task.script or "").partition(":")
        with contextlib.closing(python_agent(module, name)) as agent:
            agent.play(play)

    def close(self) -> None:
        """Do nothing."""
