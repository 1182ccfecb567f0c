"""Merges several steps into one, without mixing episodes."""

from __future__ import annotations

from typing import Any, Final

from pluriverse.env.base import Step
from pluriverse.rewarder.result import merge_info
from pluriverse.spaces import PEEK_REWARD, Observation

# These describe the present: they are dropped where a later step doesn't have them.
_PRESENT: Final = ("mask.masked.observation", "env_status.disconnected", "env_status.reconnecting")

# These are about the agent's action or about a peek: they are not merged from later steps.
_PASSING: Final = ("mask.masked.action", "peek", "env_status.peek.episode_id", "env_status.peek.env_state")


class Accumulated:
    """The sum of some steps. Once an index is done, later steps only peek at it; see ``looks``."""

    def __init__(self, n: int) -> None:
        self.observation_n: list[Observation] = [None] * n
        self.reward_n: list[float] = [0.0] * n
        self.done_n: list[bool] = [False] * n
        self.info: dict[str, Any] = {"n": [{} for _ in range(n)]}

    @classmethod
    def of(cls, step: Step) -> Accumulated:
        sum_ = cls(len(step[0]))
        sum_.observation_n, sum_.reward_n, sum_.done_n = list(step[0]), list(step[1]), list(step[2])
        sum_.info = step[3]
        return sum_

    @property
    def info_n(self) -> list[dict[str, Any]]:
        return self.info["n"]

    def looks(self) -> list[list[Any]]:
        """Return actions that do nothing, and only peek where the index is done."""
        return [[PEEK_REWARD] if done else [] for done in self.done_n]

    def without_done(self, action_n: Any) -> list[Any]:
        """Return the agent's actions, which only peek where the index is done."""
        return [[*action, PEEK_REWARD] if done else action for action, done in zip(action_n, self.done_n, strict=True)]

    def add(self, step: Step, *, acted: bool = False) -> None:
        """Add a later step. ``acted``: it sent the agent's own action."""
        observation_n, reward_n, done_n, info = step
        for index, later in enumerate(info["n"]):
            into = self.info_n[index]
            for key in _PRESENT:
                into.pop(key, None)
            passing = () if acted else _PASSING
            merge_info(into, {key: value for key, value in later.items() if key not in passing})
            self.reward_n[index] += reward_n[index]
            self.observation_n[index] = _joined(
                None if done_n[index] else self.observation_n[index], observation_n[index]
            )
            self.done_n[index] = self.done_n[index] or done_n[index]
        merge_info(self.info, {key: value for key, value in info.items() if key != "n"})

    def result(self) -> Step:
        return self.observation_n, self.reward_n, self.done_n, self.info

    @property
    def awaited(self) -> list[int]:
        """The indices without an observation whose remote is there."""
        return [
            index
            for index, (observation, info) in enumerate(zip(self.observation_n, self.info_n, strict=True))
            if observation is None and not info.get("env_status.disconnected") and "error" not in info
        ]


def _joined(earlier: Observation, later: Observation) -> Observation:
    """Return the later picture with the texts of both."""
    if earlier is None or later is None:
        return later
    return {**later, "text": [*earlier["text"], *later["text"]]}
