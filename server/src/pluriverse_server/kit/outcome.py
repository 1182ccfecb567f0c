"""The outcome of a step, and its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pluriverse_protocol.reports import Done, Reward


@dataclass(frozen=True, slots=True)
class Outcome:
    """The reward of a step, and whether and why it was the last."""

    reward: float
    terminated: bool = False
    truncated: bool = False
    reason: str = ""

    @property
    def is_last(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated

    def report(self, episode: int, at: float, info: Mapping[str, Any] | None = None) -> Reward | Done:
        """Return the report of it; ``at``: UNIX seconds when its frame was on the screen."""
        extra = dict(info or {})
        if self.is_last:
            return Done(episode, self.reward, self.terminated, self.truncated, self.reason, at=at, info=extra)
        return Reward(episode, self.reward, at, extra)
