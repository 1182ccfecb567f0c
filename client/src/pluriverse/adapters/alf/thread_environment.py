"""``ThreadEnvironment``: one environment as a batch of one, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable

from .alf_environment import AlfEnvironment
from .parallel_environment import ParallelAlfEnvironment


class ThreadEnvironment(ParallelAlfEnvironment):
    """Make, step and close an environment in one thread; it takes and returns tensors, a batch of one."""

    def __init__(self, env_constructor: Callable[[], AlfEnvironment]) -> None:
        def construct(env_id: int) -> AlfEnvironment:
            return env_constructor()

        super().__init__([construct])
