"""Several steps made into one, without mixing episodes."""

from __future__ import annotations

from typing import Any, Final

from pluriverse.rewarder.merge import merge_info
from pluriverse.spaces import PEEK_REWARD, Observation

# What says how things are now: of a later step it holds also by its absence.
_PRESENT: Final = ("mask.masked.observation", "env_status.disconnected")

# What was said of the agent's own action, or of a look in between, is no news of later steps.
_PASSING: Final = ("mask.masked.action", "peek", "env_status.peek.episode_id", "env_status.peek.env_state")

Step = tuple[list[Observation], list[float], list[bool], dict[str, Any]]


class Accumulated:
    """The sum of steps so far. Once an index is done, later steps only look at it: see ``looks``."""

    def __init__(self, n: int) -> None:
        """Nothing yet."""
        self.observation_n: list[Observation] = [None] * n
        self.reward_n: list[float] = [0.0] * n
        self.done_n: list[bool] = [False] * n
        self.info: dict[str, Any] = {"n": [{} for _ in range(n)]}

    @classmethod
    def of(cls, step: Step) -> Accumulated:
        """One step."""
        sum_ = cls(len(step[0]))
        sum_.observation_n, sum_.reward_n, sum_.done_n = list(step[0]), list(step[1]), list(step[2])
        sum_.info = step[3]
        return sum_

    @property
    def info_n(self) -> list[dict[str, Any]]:
        """The infos by index."""
        return self.info["n"]

    def looks(self) -> list[list[Any]]:
        """The actions that refresh every index: nothing, and where it is done a peek, so that the rest waits."""
        return [[PEEK_REWARD] if done else [] for done in self.done_n]

    def without_done(self, action_n: Any) -> list[Any]:
        """Actions of the agent, that only peek where it is done already."""
        return [[*action, PEEK_REWARD] if done else action for action, done in zip(action_n, self.done_n, strict=True)]

    def add(self, step: Step, *, acted: bool = False) -> None:
        """Add a later step. ``acted``: it carried the agent's own action."""
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
        """As a step."""
        return self.observation_n, self.reward_n, self.done_n, self.info

    @property
    def awaited(self) -> list[int]:
        """The indices that have no observation, though their remote is there."""
        return [
            index
            for index, (observation, info) in enumerate(zip(self.observation_n, self.info_n, strict=True))
            if observation is None and not info.get("env_status.disconnected") and "error" not in info
        ]


def _joined(earlier: Observation, later: Observation) -> Observation:
    """The later picture with the texts of both."""
    if earlier is None or later is None:
        return later
    return {**later, "text": [*earlier["text"], *later["text"]]}
