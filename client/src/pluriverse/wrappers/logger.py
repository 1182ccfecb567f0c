"""Logs rates, lags and rewards every few seconds."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from pluriverse.env.base import Env, Wrapper

from .meter import Meter

log = logging.getLogger(__name__)

# Often enough to see a run go wrong, seldom enough to read.
PERIOD_S: Final = 5.0


class Logger(Wrapper):
    """One line of ``logging`` at level INFO every ``period_s`` seconds."""

    def __init__(self, env: Env, period_s: float = PERIOD_S) -> None:
        super().__init__(env)
        self._period_s = period_s
        self._meter: Meter | None = None
        self._due = 0.0

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see."""
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        now = time.monotonic()
        if self._meter is None:
            self._meter, self._due = Meter(self.n, now), now + self._period_s
        self._meter.note(reward_n, done_n, info["n"])
        if now >= self._due:
            log.info("%s", self._meter.line(now))
            self._meter = None
        return observation_n, reward_n, done_n, info
