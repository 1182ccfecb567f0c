"""An environment that gives what the test wrote down, and keeps what it was told; for wrappers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from pluriverse.env.base import Env, EnvSpec
from pluriverse.spaces import PEEK_REWARD, EventSpace, Observation, ObservationSpace, ScreenObservation

Result = tuple[Observation, float, bool, dict[str, Any]]


def seen(value: int = 0, *texts: str) -> ScreenObservation:
    """An observation whose picture is all of one value."""
    return {"vision": np.full((4, 6, 3), value, np.uint8), "text": list(texts)}


@dataclass
class Script:
    """What one index gives, step by step; afterwards ``last``, without reward."""

    results: list[Result] = field(default_factory=list[Result])
    last: Observation = field(default_factory=seen)

    def take(self, *, peek: bool) -> Result:
        if peek:
            following = self.results[0][0] if self.results else self.last
            return following, 0.0, False, {"peek": True}
        if not self.results:
            return self.last, 0.0, False, {"stats.reward.count": 0}
        return self.results.pop(0)


class ScriptedEnv(Env):
    def __init__(self, *scripts: Script, env_id: str | None = None, fps: float = 1000.0) -> None:
        self.metadata = {"video.frames_per_second": fps}
        self.spec = EnvSpec(env_id) if env_id is not None else None
        self.observation_space = ObservationSpace()
        self.action_space = EventSpace()
        self.scripts = scripts or (Script(),)
        self.actions: list[Any] = []
        self.truncated: list[int] = []
        self.seeds: Any = None
        self.resets = 0
        self.shown: list[str] = []
        self.waits = 0
        self.closed = 0

    @property
    def n(self) -> int:
        return len(self.scripts)

    def configure(self, *args: Any, **options: Any) -> None:
        self.options = options

    def reset(self) -> list[Observation]:
        self.resets += 1
        return [None] * self.n

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        actions: list[Any] = [_listed(action) for action in action_n]
        assert len(actions) == self.n
        self.actions.append(actions)
        peeks = [PEEK_REWARD in cast("list[Any]", action) if isinstance(action, list) else False for action in actions]
        results = [script.take(peek=peek) for script, peek in zip(self.scripts, peeks, strict=True)]
        observation_n, reward_n, done_n, info_n = (list(column) for column in zip(*results, strict=True))
        return observation_n, reward_n, done_n, {"n": [dict(info) for info in info_n]}

    def reset_one(self, index: int) -> None:
        self.truncated.append(index)

    def wait(self, timeout_s: float) -> bool:
        self.waits += 1
        return True

    def seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        self.seeds = seed
        return [seed + index if isinstance(seed, int) else None for index in range(self.n)]

    def render(self, mode: str = "human") -> Any:
        self.shown.append(mode)
        return [script.last["vision"] for script in self.scripts if script.last is not None]

    def close(self) -> None:
        self.closed += 1


def _listed(action: Any) -> Any:
    return list(cast("Sequence[Any]", action)) if isinstance(action, list | tuple) else action
