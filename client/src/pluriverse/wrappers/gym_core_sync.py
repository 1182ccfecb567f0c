"""Steps gym-core's Sync variants, which wait for their agent."""

from __future__ import annotations

import time
from typing import Any, Final

from pluriverse_protocol.events import KeyEvent

from pluriverse.env import sync
from pluriverse.env.base import Env, Step, Wrapper
from pluriverse.env.outcome import Outcome
from pluriverse.env.sync import Missing, SyncStep
from pluriverse.env.vector import VectorEnv
from pluriverse.errors import ConfigurationError, RemoteFailed

from .accumulated import Accumulated

STEP_KEY: Final = ord("c")
_STEP: Final = (KeyEvent(STEP_KEY, True), KeyEvent(STEP_KEY, False))

# How often to look whether a remote is still there while nothing comes from it.
LOOK_S: Final = 0.05


class GymCoreSync(Wrapper):
    """One step of the game for each ``step``: its reward, and the picture after it.

    Presses ``c``, waits for the reward, and then for a picture whose painted clock is later. An episode's last step
    waits for the next one's first picture. Doesn't wait for a remote that is away.
    """

    def __init__(self, env: Env) -> None:
        """Wrap a VectorEnv, or wrappers around one; raise ``ConfigurationError`` if there is none inside."""
        super().__init__(env)
        if not isinstance(env.unwrapped, VectorEnv):
            raise ConfigurationError("GymCoreSync wraps a VectorEnv")
        self._core = env.unwrapped
        self._core.watchers.append(self._watch)
        self._steps: list[SyncStep] = []
        self.metadata["semantics.async"] = False

    def reset(self) -> Any:
        """Begin a new episode in each environment, and wait for their first pictures."""
        self.env.reset()
        self._begin(rewarded=True)
        sum_ = Accumulated(self.n)
        sum_.add(self.env.step([[]] * self.n))
        self._wait(sum_)
        return sum_.observation_n

    def step(self, action_n: Any) -> Step:
        """Step each game once, see ``Env.step``; raise ``RemoteFailed`` if no reward followed, or no picture."""
        self._begin()
        sum_ = Accumulated.of(self.env.step([[*action, *_STEP] for action in action_n]))
        self._wait(sum_)
        return sum_.result()

    def _begin(self, *, rewarded: bool = False) -> None:
        now = time.monotonic()
        self._steps = [SyncStep(now, rewarded=rewarded) for _ in range(self.n)]

    def _watch(self, index: int, outcome: Outcome) -> None:
        if self._steps:
            self._steps[index].take(outcome, time.monotonic())

    def _wait(self, sum_: Accumulated) -> None:
        while waiting := [step for step in self._steps if not step.is_over(time.monotonic())]:
            missing = {step.missing for step in waiting}
            if Missing.REWARD in missing:
                self._core.wait(LOOK_S, [])
            elif Missing.PICTURE in missing:
                self.env.wait(LOOK_S)
            elif not self.env.wait(max(0.0, max(step.due_at for step in waiting) - time.monotonic())):
                break
            sum_.add(self.env.step(sum_.looks()))
        for step in self._steps:
            if step.missing is Missing.REWARD:
                raise RemoteFailed(
                    f"no reward followed a step within {sync.LOST_S:g} s; is {self.spec} a Sync environment?"
                )
            if step.missing is Missing.PICTURE:
                raise RemoteFailed(
                    f"no picture followed a step within {sync.LOST_S:g} s; does {self.spec} paint its clock?"
                )
