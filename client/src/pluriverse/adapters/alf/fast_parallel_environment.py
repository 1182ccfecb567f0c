"""``FastParallelEnvironment``: what ALF makes batches of; there is one way to run environments in processes here."""

from .parallel_environment import ParallelAlfEnvironment as FastParallelEnvironment

__all__ = ["FastParallelEnvironment"]
