"""The live state of a remote, as the viewer, the status line and the health checks show it.

Pure: the clock is passed in. Times are UNIX seconds, rates frames a second, lags milliseconds.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.limits import MAX_FPS

from pluriverse_server.episode import Episode, Finished

# The frame rate is measured over this long: short enough to show a stall, long enough to be steady.
RATE_WINDOW_S: Final = 2.0

# Bounds memory where a program's clock stands still.
MAX_RATE_FRAMES: Final = int(RATE_WINDOW_S * MAX_FPS)

# A program in lockstep that takes no step for so long is paused; it reports its steps every half second.
PAUSED_S: Final = 1.0

# The lag is the median of so many rewards; so many rewards and ended episodes are kept for display.
LAGS: Final = 32
REWARDS: Final = 32
EPISODES: Final = 20


@dataclass(slots=True)
class FrameRate:
    _frames: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=MAX_RATE_FRAMES))

    def note(self, frames: int, at: float) -> None:
        if self._frames and (frames < self._frames[-1][1] or at < self._frames[-1][0]):
            self._frames.clear()
        self._frames.append((at, frames))
        while at - self._frames[0][0] > RATE_WINDOW_S:
            self._frames.popleft()

    def rate(self, now: float) -> float | None:
        if len(self._frames) < 2 or now - self._frames[-1][0] > RATE_WINDOW_S:
            return None
        (first_at, first), (last_at, last) = self._frames[0], self._frames[-1]
        return (last - first) / (last_at - first_at) if last_at > first_at else None


class Statistics:
    def __init__(self) -> None:
        self.frame_rate = FrameRate()
        self.finished: deque[Finished] = deque(maxlen=EPISODES)
        self._rewards: deque[dict[str, Any]] = deque(maxlen=REWARDS)
        self.reward_lags_s: deque[float] = deque(maxlen=LAGS)
        """From the frame that earned a reward on screen to its message."""
        self.readings: dict[str, Mapping[str, Any]] = {}
        self.stepped_at: float = 0.0

    def note_reward(self, at: float, reward: float, episode_id: int, end: str | None) -> None:
        given = {"at": at, "reward": reward, "done": end is not None, "reason": end or "", "episode": str(episode_id)}
        self._rewards.append(given)

    def sources_status(self, regions: Mapping[str, list[int] | None]) -> dict[str, Any]:
        return {
            name: {**self.readings[name], "region": region} for name, region in regions.items() if name in self.readings
        }

    @property
    def reward_lag_ms(self) -> float | None:
        return statistics.median(self.reward_lags_s) * 1000 if self.reward_lags_s else None

    def episode_status(self, episode: Episode | None, state: str | None, now: float) -> dict[str, Any]:
        running = episode if state == "running" else None
        in_lockstep = running is not None and running.environment.clock == "lockstep"
        rate = self.frame_rate.rate(now)
        return {
            "env_id": episode.environment.env_id if episode else None,
            "env_state": state,
            "episode_id": str(episode.episode_id if episode else 0),
            "episode_reward": episode.reward if episode else 0.0,
            "episode_seconds": round(running.seconds(now), 3) if running else 0.0,
            "paused": in_lockstep and now - self.stepped_at > PAUSED_S,
            "clock": episode.environment.clock if episode else None,
            "fps": episode.fps if episode else None,
            "picture": list(episode.picture) if episode and episode.picture else None,
            "fps_measured": round(rate, 2) if rate is not None else None,
            "frames": episode.frames if episode else 0,
            "late_frames": episode.late_frames if episode else 0,
            "reward_lag_ms": self.reward_lag_ms,
            "rewards": list(self._rewards),
            "last_episodes": [
                {
                    "episode_id": str(finished.episode_id),
                    "env_id": finished.env_id,
                    "reward": finished.reward,
                    "seconds": round(finished.seconds, 3),
                    "reason": finished.reason,
                }
                for finished in self.finished
            ],
        }


def inputs_status(spaces: Spaces | None) -> dict[str, Any]:
    """Return what people use beside a keyboard and places of a pointer."""
    return {"relative": spaces is not None and spaces.relative, "pads": 0 if spaces is None else spaces.pads}


def keys_status(spaces: Spaces | None) -> list[tuple[int, str]]:
    """Return the keys that an environment takes, each with the name of what it does alone, or "" if it has none."""
    if spaces is None:
        return []
    names = {choice.keys[0]: choice.name for choice in spaces.discrete if len(choice.keys) == 1}
    step = [(spaces.step, "step")] if spaces.step is not None else []
    return [(key, names.get(key, "")) for key in spaces.keyboard if key != spaces.step] + step
