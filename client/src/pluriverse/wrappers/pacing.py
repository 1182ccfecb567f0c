"""Wrappers that wait: for first pictures, and for the next frame."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from pluriverse.env.base import Env, Step, Wrapper

from .accumulated import Accumulated

log: Final = logging.getLogger(__name__)

# How often to look whether a remote is still there while nothing comes from it.
LOOK_S: Final = 0.1

# An agent that is late for a frame hurries to the next, to keep its rate; this far behind it starts over.
BEHIND_S: Final = 0.1


class BlockingReset(Wrapper):
    """``reset`` and ``step`` wait until every index has an observation; None only for a remote that is away."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self._begun: Accumulated | None = None

    def reset(self) -> Any:
        """Begin a new episode in each environment, and wait for their first pictures."""
        self.env.reset()
        self._begun = Accumulated(self.n)
        self._begun.add(self.env.step([[]] * self.n))
        self._wait(self._begun)
        # Rewards and infos of these steps are returned by the next step.
        return [None if observation is None else {**observation} for observation in self._begun.observation_n]

    def step(self, action_n: Any) -> Step:
        """Act, and wait for an observation of each environment; see ``Env.step``."""
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


class Throttle(Wrapper):
    """At most ``fps`` steps per second, by default the environment's own rate.

    Each step sends its action at once, and collects what comes until the frame is due, so that the observation is as
    fresh as can be. Rewards and infos are merged, but never those of two episodes. ``info["stats.throttle.sleep"]`` is
    how many seconds the step waited.
    """

    def __init__(self, env: Env, fps: float | None = None) -> None:
        super().__init__(env)
        self._fps = fps
        self._due: float | None = None

    def reset(self) -> Any:
        self._due = None
        return self.env.reset()

    def step(self, action_n: Any) -> Step:
        """Act, and return the observations when the next frame is due; see ``Env.step``."""
        sum_ = Accumulated.of(self.env.step(action_n))
        sum_.info["stats.throttle.sleep"] = self._until_due(sum_)
        return sum_.result()

    def _until_due(self, sum_: Accumulated) -> float:
        period = 1 / (self._fps or self.env.unwrapped.metadata["video.frames_per_second"])
        began = now = time.monotonic()
        due = self._due if self._due is not None else began + period
        if now - due > BEHIND_S:
            log.info("this agent is %.2f s behind its frames; continuing from here", now - due)
            due = now
        while (left := due - time.monotonic()) > 0:
            if self.env.wait(left):
                sum_.add(self.env.step(sum_.looks()))
        self._due = due + period
        return time.monotonic() - began
