"""``FastParallelEnvironment``: what ALF makes batches of."""

from __future__ import annotations

from .parallel_environment import ParallelAlfEnvironment


class FastParallelEnvironment(ParallelAlfEnvironment):
    """The same: there is one way to run environments in processes here."""
