"""How long steps take."""

from __future__ import annotations

import time
from typing import Any

from pluriverse.env.base import Env, Wrapper


class Timer(Wrapper):
    """Tells in ``info["stats.gauges.timer.step"]`` how many seconds the step took, less what a Throttle waited."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.steps = 0
        self.seconds = 0.0

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see."""
        began = time.perf_counter()
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        took = time.perf_counter() - began - info.get("stats.throttle.sleep", 0.0)
        self.steps += 1
        self.seconds += took
        info["stats.gauges.timer.step"] = took
        return observation_n, reward_n, done_n, info

    @property
    def mean_s(self) -> float:
        """The mean of all steps so far, in seconds."""
        return self.seconds / self.steps if self.steps else 0.0
