"""Acts at once, and hands out the picture when the frame is due."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from pluriverse.env.base import Env, Wrapper

from .accumulated import Accumulated

log = logging.getLogger(__name__)

# An agent that is late for a frame hurries to the next, so that it keeps its rate; this far behind it starts anew.
BEHIND_S: Final = 0.1


class Throttle(Wrapper):
    """At most ``fps`` steps a second, the environment's own rate if not given.

    Each step sends its action at once, and then keeps taking in what comes until the frame is due, so that what is
    handed out is as fresh as can be. Rewards and infos of all that are merged; an episode's end is never merged with
    what comes after it. ``info["stats.throttle.sleep"]`` is how many seconds the step waited.
    """

    def __init__(self, env: Env, fps: float | None = None) -> None:
        super().__init__(env)
        self._fps = fps
        self._due: float | None = None

    def reset(self) -> Any:
        """Begin new episodes everywhere."""
        self._due = None
        return self.env.reset()

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see at the next frame."""
        sum_ = Accumulated.of(self.env.step(action_n))
        sum_.info["stats.throttle.sleep"] = self._until_due(sum_)
        return sum_.result()

    def _until_due(self, sum_: Accumulated) -> float:
        period = 1 / (self._fps or self.env.unwrapped.metadata["video.frames_per_second"])
        began = now = time.monotonic()
        due = self._due if self._due is not None else began + period
        if now - due > BEHIND_S:
            log.info("this agent is %.2f s behind its frames; going on from here", now - due)
            due = now
        while (left := due - time.monotonic()) > 0:
            if self.env.wait(left):
                sum_.add(self.env.step(sum_.looks()))
        self._due = due + period
        return time.monotonic() - began
