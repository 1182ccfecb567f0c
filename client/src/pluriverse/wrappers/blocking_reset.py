"""Waits for environments that reset, for agents that know no None."""

from __future__ import annotations

from typing import Any, Final

from pluriverse.env.base import Env, Wrapper

from .accumulated import Accumulated

# How often it is looked whether a remote is still there while nothing comes of it.
LOOK_S: Final = 0.1


class BlockingReset(Wrapper):
    """``reset`` and ``step`` return once every index has an observation; only a remote that is away leaves None."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self._begun: Accumulated | None = None

    def reset(self) -> Any:
        """Begin new episodes everywhere, and wait for their first pictures."""
        self.env.reset()
        self._begun = Accumulated(self.n)
        self._begun.add(self.env.step([[]] * self.n))
        self._wait(self._begun)
        # The agent is given this now; what it earned and said meanwhile, with the next step.
        return [None if observation is None else dict(observation) for observation in self._begun.observation_n]

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see once there is something to see."""
        if self._begun is None:
            sum_ = Accumulated.of(self.env.step(action_n))
        else:
            sum_, self._begun = self._begun, None
            for observation in sum_.observation_n:
                if observation is not None:
                    observation["text"] = []
            sum_.add(self.env.step(sum_.without_done(action_n)), acted=True)
        self._wait(sum_)
        return sum_.result()

    def _wait(self, sum_: Accumulated) -> None:
        while sum_.awaited:
            self.env.wait(LOOK_S)
            sum_.add(self.env.step(sum_.looks()))
