"""gym-core's Sync variants as environments that wait for their agent."""

from __future__ import annotations

import time
from typing import Any, Final

from pluriverse_protocol import metadata
from pluriverse_protocol.events import KeyEvent

from pluriverse.env.base import Env, Wrapper
from pluriverse.env.vector import VectorEnv
from pluriverse.errors import ConfigurationError, RemoteFailed

from .accumulated import Accumulated

STEP_KEY: Final = ord("c")
_STEP: Final = (KeyEvent(STEP_KEY, True), KeyEvent(STEP_KEY, False))

# A step of a game takes milliseconds, an episode's beginning a second at most. What doesn't come by now was lost, or
# the environment isn't one of the Sync variants.
LOST_S: Final = 10.0

# A server that scrapes the screen notes what was painted, and reads the pixels when it sends: the block that it noted
# for an earlier clock can show a later one, without the game's picture that was painted in between. That is then in the
# next update, this much later at most. A game that stands still costs this wait, too.
SETTLE_S: Final = 0.015
BLOCK_PIXELS: Final = metadata.WIDTH * metadata.HEIGHT

# How often it is looked whether a remote is still there while nothing comes of it.
LOOK_S: Final = 0.05


class GymCoreSync(Wrapper):
    """One step of the game for each ``step``: its reward, and the picture after it.

    Presses ``c``, waits for the reward's message, and then for a picture whose painted clock is later than that. An
    episode's last step waits for the next one's first picture. A remote that is away isn't waited for.
    """

    def __init__(self, env: Env) -> None:
        """Wraps a VectorEnv, however deep.

        Raises:
            ConfigurationError: there is none within.
        """
        super().__init__(env)
        if not isinstance(env.unwrapped, VectorEnv):
            raise ConfigurationError("GymCoreSync wraps a VectorEnv")
        self._core = env.unwrapped
        self.metadata["semantics.async"] = False

    def reset(self) -> Any:
        """Begin new episodes everywhere, and wait for their first pictures."""
        self.env.reset()
        sum_ = Accumulated(self.n)
        sum_.add(self.env.step([[]] * self.n))
        self._wait_for_pictures(sum_)
        return sum_.observation_n

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act on the game's next step, and see what came of it.

        Raises:
            RemoteFailed: no reward followed.
        """
        sum_ = Accumulated.of(self.env.step([[*action, *_STEP] for action in action_n]))
        deadline = time.monotonic() + LOST_S
        while any(not info["stats.reward.count"] and _is_there(info) for info in sum_.info_n):
            self._core.wait_for_rewarder(LOOK_S)
            sum_.add(self.env.step(sum_.looks()))
            if time.monotonic() > deadline:
                raise RemoteFailed(f"no reward followed a step within {LOST_S:g} s; is {self.spec} a Sync environment?")
        self._wait_for_pictures(sum_)
        return sum_.result()

    def _wait_for_pictures(self, sum_: Accumulated) -> None:
        """Until each picture is later than what its index's rewarder said last, and whole."""
        deadline = time.monotonic() + LOST_S
        while any(_is_late(sum_, index) for index in range(self.n)):
            self.env.wait(LOOK_S)
            sum_.add(self.env.step(sum_.looks()))
            if time.monotonic() > deadline:
                raise RemoteFailed(f"no picture followed a step within {LOST_S:g} s; does {self.spec} paint its clock?")
        settled = time.monotonic() + SETTLE_S
        while any(map(_only_its_clock_came, sum_.info_n)) and (left := settled - time.monotonic()) > 0:
            if self.env.wait(left):
                sum_.add(self.env.step(sum_.looks()))


def _is_late(sum_: Accumulated, index: int) -> bool:
    info = sum_.info_n[index]
    if not _is_there(info):
        return False
    if sum_.observation_n[index] is None:
        return True
    return info.get("diagnostics.image_remote_time", 0.0) < info.get("reward_buffer.remote_time", 0.0)


def _only_its_clock_came(info: dict[str, Any]) -> bool:
    return _is_there(info) and info["stats.vnc.updates.pixels"] <= BLOCK_PIXELS * info["stats.vnc.updates.n"]


def _is_there(info: dict[str, Any]) -> bool:
    return not info.get("env_status.disconnected") and "error" not in info
