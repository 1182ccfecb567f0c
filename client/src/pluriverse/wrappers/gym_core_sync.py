"""Steps gym-core's Sync variants, which wait for their agent."""

from __future__ import annotations

import time
from enum import Enum, auto
from typing import Any, Final

from pluriverse_protocol import metadata
from pluriverse_protocol.events import KeyEvent

from pluriverse.env.base import Env, Step, Wrapper
from pluriverse.env.vector import VectorEnv
from pluriverse.errors import ConfigurationError, RemoteFailed
from pluriverse.rewarder.result import Result

from .accumulated import Accumulated

STEP_KEY: Final = ord("c")
_STEP: Final = (KeyEvent(STEP_KEY, True), KeyEvent(STEP_KEY, False))

# How often to look whether a remote is still there while nothing comes from it.
LOOK_S: Final = 0.05

# A step of a game takes milliseconds, an episode's beginning a second at most. What doesn't come by then was lost, or
# the environment isn't one of the Sync variants.
LOST_S: Final = 10.0

# A server that scrapes the screen notes what was painted, and reads the pixels when it sends: the block that it noted
# for an earlier clock can show a later one, without the game's picture that was painted in between. It has noted that
# when it shows a still later clock, which the game paints soon. If it read both at once, no more comes.
_SETTLE_S: Final = 0.2
_BLOCK_PIXELS: Final = metadata.WIDTH * metadata.HEIGHT


class Missing(Enum):
    """The answer that a step still waits for."""

    REWARD = auto()
    PICTURE = auto()
    """One painted after the reward was sent."""
    REST_OF_PICTURE = auto()
    """Only the painted clock has changed; the rest comes before a still later clock, or the game drew nothing."""
    NOTHING = auto()


class SyncStep:
    """One step: answered by a reward, and by a picture painted later. A remote that is away isn't waited for."""

    def __init__(self, now: float, *, rewarded: bool = False) -> None:
        """``rewarded``: no reward is due, as after a reset. ``now`` is in seconds of any clock."""
        self.missing: Missing = Missing.PICTURE if rewarded else Missing.REWARD
        self.due_at: float = now + LOST_S
        """When to stop waiting for what is missing now."""
        self._rewarded = rewarded
        self._painted_at = self._sent_at = self._first_later = 0.0
        self._updates = self._pixels = 0
        self._lost = False

    def is_over(self, now: float) -> bool:
        """Return whether nothing is missing, or it is too late for it."""
        return self.missing is Missing.NOTHING or now >= self.due_at

    def take(self, result: Result, now: float) -> None:
        self._rewarded = self._rewarded or result.reward_count > 0
        self._lost = self._lost or result.error is not None
        self._painted_at = result.image_remote_time or self._painted_at
        self._sent_at = result.remote_time or self._sent_at
        self._updates += result.updates
        self._pixels += result.pixels
        missing = self._find_missing(result)
        if missing is not self.missing:
            self.missing = missing
            self.due_at = now + (_SETTLE_S if missing is Missing.REST_OF_PICTURE else LOST_S)

    def _find_missing(self, result: Result) -> Missing:
        if self._lost or result.disconnected:
            return Missing.NOTHING
        if not self._rewarded:
            return Missing.REWARD
        if result.masked_observation or self._painted_at < self._sent_at:
            return Missing.PICTURE
        self._first_later = self._first_later or self._painted_at
        alone = self._pixels <= _BLOCK_PIXELS * self._updates
        return Missing.REST_OF_PICTURE if alone and self._painted_at == self._first_later else Missing.NOTHING


class GymCoreSync(Wrapper):
    """One step of the game for each ``step``: its reward, and the picture after it.

    Presses ``c``, waits for the reward, and then for a picture whose painted clock is later. An episode's last step
    waits for the next one's first picture. Doesn't wait for a remote that is away.
    """

    def __init__(self, env: Env) -> None:
        """Wrap a VectorEnv, or wrappers around one; raise ``ConfigurationError`` without one inside."""
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

    def _watch(self, index: int, result: Result) -> None:
        if self._steps:
            self._steps[index].take(result, time.monotonic())

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
                raise RemoteFailed(f"no reward followed a step within {LOST_S:g} s; is {self.spec} a Sync environment?")
            if step.missing is Missing.PICTURE:
                raise RemoteFailed(f"no picture followed a step within {LOST_S:g} s; does {self.spec} paint its clock?")
