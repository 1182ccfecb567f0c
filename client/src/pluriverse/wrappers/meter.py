"""Wrappers that measure and log rates, lags and rewards."""

from __future__ import annotations

import logging
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from pluriverse.env.base import Env, Step, Wrapper
from pluriverse.rewarder.result import PREFIX

log: Final = logging.getLogger(__name__)

LAGS: Final = ("observation", "action", "reward", "rewarder_message")

# Often enough to see a run go wrong, seldom enough to read.
PERIOD_S: Final = 5.0


class Meter:
    """Sums up steps of ``n`` environments. Times are passed in, in seconds of any clock."""

    def __init__(self, n: int, now: float) -> None:
        self._n = n
        self._began = now
        self.steps: int = 0
        self.updates: list[int] = [0] * n
        self.rewards: list[float] = [0.0] * n
        self.messages: list[int] = [0] * n
        self.episodes: list[int] = [0] * n
        self.away: set[int] = set()
        self._lags: dict[str, list[float]] = defaultdict(list)

    def note(self, reward_n: Sequence[float], done_n: Sequence[bool], info_n: Sequence[dict[str, Any]]) -> None:
        self.steps += 1
        for index, info in enumerate(info_n):
            self.updates[index] += info.get("stats.vnc.updates.n", 0)
            self.messages[index] += info.get("stats.reward.count", 0)
            self.rewards[index] += reward_n[index]
            self.episodes[index] += done_n[index]
            (self.away.add if info.get("env_status.disconnected") else self.away.discard)(index)
            for name in LAGS:
                bounds = info.get(f"{PREFIX}lag.{name}")
                if bounds is not None:
                    self._lags[name].append((bounds[0] + bounds[1]) / 2)

    def lag_s(self, name: str) -> float | None:
        """Return the median of a lag over all environments, in seconds; None if it was never measured."""
        return statistics.median(self._lags[name]) if self._lags.get(name) else None

    def frames_per_second(self, now: float) -> list[float]:
        return [count / max(1e-9, now - self._began) for count in self.updates]

    def line(self, now: float) -> str:
        seconds = max(1e-9, now - self._began)
        parts = [
            f"{self.steps / seconds:.1f} steps/s",
            f"{'/'.join(f'{rate:.0f}' for rate in self.frames_per_second(now))} frames/s",
            f"reward {sum(self.rewards):+g} in {sum(self.messages)} messages",
        ]
        for name in LAGS:
            lag = self.lag_s(name)
            if lag is not None:
                parts.append(f"{name} lag {lag * 1000:.1f} ms")
        if sum(self.episodes):
            parts.append(f"{sum(self.episodes)} episodes ended")
        parts.append(f"{self._n - len(self.away)}/{self._n} remotes")
        return ", ".join(parts)


class Logger(Wrapper):
    """Logs a line at level INFO every ``period_s`` seconds."""

    def __init__(self, env: Env, period_s: float = PERIOD_S) -> None:
        super().__init__(env)
        self._period_s = period_s
        self._meter: Meter | None = None
        self._due = 0.0

    def step(self, action_n: Any) -> Step:
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        now = time.monotonic()
        if self._meter is None:
            self._meter, self._due = Meter(self.n, now), now + self._period_s
        self._meter.note(reward_n, done_n, info["n"])
        if now >= self._due:
            log.info("%s", self._meter.line(now))
            self._meter = None
        return observation_n, reward_n, done_n, info


class Timer(Wrapper):
    """``info["stats.gauges.timer.step"]`` is how many seconds the step took, without what a Throttle waited."""

    def step(self, action_n: Any) -> Step:
        began = time.perf_counter()
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        took = time.perf_counter() - began - info.get("stats.throttle.sleep", 0.0)
        info["stats.gauges.timer.step"] = took
        return observation_n, reward_n, done_n, info
