"""Several vectors as one."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pluriverse import validation
from pluriverse.env.base import Env, EnvSpec, Step
from pluriverse.errors import ConfigurationError
from pluriverse.forks import Owner
from pluriverse.rewarder.result import merge_info
from pluriverse.waker import WAKER


class Joint(Env):
    """Several configured environments as one vector, with indices in their order. Each steps in its own thread."""

    def __init__(self, env_m: Sequence[Env]) -> None:
        """Join at least one, else raise ``ConfigurationError``."""
        if not env_m:
            raise ConfigurationError("Joint needs at least one environment")
        self._parts: list[Env] = list(env_m)
        self.metadata: dict[str, Any] = dict(self._parts[0].metadata)
        self.spec: EnvSpec | None = self._parts[0].spec
        self.observation_space: Any = self._parts[0].observation_space
        self.action_space: Any = self._parts[0].action_space
        self._owner = Owner("this environment")
        self._threads = ThreadPoolExecutor(len(self._parts), thread_name_prefix="pluriverse: joint")

    @property
    def n(self) -> int:
        return sum(part.n for part in self._parts)

    def configure(self, **options: Any) -> None:
        """Raise ``ConfigurationError``: parts are configured before they are joined."""
        raise ConfigurationError("Joint needs configured environments")

    def reset(self) -> Any:
        self._owner.require()
        return list(itertools.chain.from_iterable(self._threads.map(operator.methodcaller("reset"), self._parts)))

    def step(self, action_n: Any) -> Step:
        self._owner.require()
        actions = iter(list(action_n))
        shares = [[next(actions) for _ in range(part.n)] for part in self._parts]
        observation_n: list[Any] = []
        reward_n: list[Any] = []
        done_n: list[Any] = []
        info: dict[str, Any] = {}
        info_n: list[dict[str, Any]] = []
        for observations, rewards, dones, part_info in self._threads.map(_step, self._parts, shares):
            observation_n += observations
            reward_n += rewards
            done_n += dones
            info_n += part_info["n"]
            merge_info(info, {key: value for key, value in part_info.items() if key != "n"})
        return observation_n, reward_n, done_n, {**info, "n": info_n}

    def reset_one(self, index: int) -> None:
        for part in self._parts:
            if index < part.n:
                part.reset_one(index)
                return
            index -= part.n
        raise IndexError(index)

    def wait(self, timeout_s: float) -> bool:
        return WAKER.wait_for(lambda: any(part.wait(0.0) for part in self._parts), timeout_s)

    def seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """See ``Env.seed``; a number goes on counting from part to part."""
        seeds = validation.seeds(seed, self.n)
        left = iter(seeds)
        for part in self._parts:
            part.seed(list(itertools.islice(left, part.n)))
        return seeds

    def render(self, mode: str = "human") -> Any:
        """Show the first part, or return the pictures of all."""
        if mode == "rgb_array":
            return [picture for part in self._parts for picture in part.render(mode)]
        return self._parts[0].render(mode)

    def close(self) -> None:
        self._threads.shutdown()
        for part in self._parts:
            part.close()


def _step(part: Env, share: list[Any]) -> tuple[list[Any], list[Any], list[Any], dict[str, Any]]:
    return part.step(share)
