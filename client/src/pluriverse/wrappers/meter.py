"""Rates, lags and rewards of a stretch of steps, in words."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from pluriverse.diagnostics import PREFIX

LAGS: Final = ("observation", "action", "reward", "rewarder_message")


class Meter:
    """Sums up steps of ``n`` environments. Times are passed in, in seconds of any clock."""

    def __init__(self, n: int, now: float) -> None:
        self._n = n
        self._began = now
        self.steps = 0
        self.updates = [0] * n
        self.rewards = [0.0] * n
        self.messages = [0] * n
        self.episodes = [0] * n
        self.away: set[int] = set()
        self._lags: dict[str, list[float]] = defaultdict(list)

    def note(self, reward_n: Sequence[float], done_n: Sequence[bool], info_n: Sequence[dict[str, Any]]) -> None:
        """Take in a step."""
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
        """The median of a lag over all environments, in seconds; None if it was never told."""
        return statistics.median(self._lags[name]) if self._lags.get(name) else None

    def frames_per_second(self, now: float) -> list[float]:
        """New pictures a second, by index."""
        return [count / max(1e-9, now - self._began) for count in self.updates]

    def line(self, now: float) -> str:
        """All of it in a line."""
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
