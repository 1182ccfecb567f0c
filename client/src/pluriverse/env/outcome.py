"""The outcome of a step on one remote, as typed fields; the users' ``info`` is built from them last."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

from pluriverse_protocol.messages import Observation as StructuredObservation

from pluriverse.diagnostics import PREFIX, Bounds
from pluriverse.rewarder.merge import merge_info
from pluriverse.spaces import Observation

# Keys of this kind differ from run to run; what a program reports has no such names.
MEASURED: Final = ("stats.", "diagnostics.", "env_status.", "mask.", "rewarder.", "reward_buffer.")


@dataclass(slots=True, eq=False)
class Outcome:
    """The outcome of one step, or of several merged ones. None: not known, or nothing new.

    ``reward``, ``done``, ``terminated`` and ``truncated`` are of the episode ``completed_id`` where one ended, else of
    ``episode_id``; ``completed_texts`` and ``completed_observation`` are that episode's last. ``observation`` is of
    ``episode_id``. Times are UNIX seconds: ``picture_at`` and ``message_received_at`` by our clock, ``painted_at`` (the
    picture) and ``message_sent_at`` (the rewarder's last message) by the remote's. Lags are bounds in seconds.
    """

    observation: Observation = None
    reward: float = 0.0
    done: bool = False
    terminated: bool = False
    truncated: bool = False
    error: str | None = None
    """Why the connection was lost, in the step that noticed."""
    disconnected: bool = False
    reconnecting: bool = False
    """Whether a line is broken and being mended: the episode goes on unseen, and keys wait until it is whole."""
    masked_action: bool = False
    masked_observation: bool = False

    program_info: dict[str, Any] = field(default_factory=dict[str, Any])
    """The info that rewards carried."""
    reward_count: int = 0
    """How many reward messages came."""
    updates: int = 0
    """How many updates of the screen came."""
    pixels: int = 0
    """How many pixels these changed."""

    episode_id: int | None = None
    state: str | None = None
    completed_id: int | None = None
    completed_state: str | None = None
    completed_texts: list[str] = field(default_factory=list[str])
    completed_observation: StructuredObservation | None = None
    peek: tuple[int | None, str | None] | None = None
    """Of a step that only peeked: the remote's episode id and state."""

    picture_at: float | None = None
    painted_at: float | None = None
    message_sent_at: float | None = None
    message_received_at: float | None = None
    skew: Bounds | None = None
    """The bounds of the clocks' difference, with ``painted_at``."""
    observation_lag: Bounds | None = None
    action_lag: Bounds | None = None
    reward_lag: Bounds | None = None
    message_lag: Bounds | None = None

    def merge(self, later: Outcome) -> None:
        """Add the measurements of a later step: counts add up, others are replaced. The episode is the later one's."""
        if later.program_info:
            merge_info(self.program_info, later.program_info)
        self.reward_count += later.reward_count
        self.updates += later.updates
        self.pixels += later.pixels
        self.episode_id, self.state = later.episode_id, later.state
        for name, value in zip(_LATEST, _latest(later), strict=True):
            if value is not None and value is not False:
                setattr(self, name, value)
        if later.done:
            self.done, self.terminated, self.truncated = True, later.terminated, later.truncated

    def info(self) -> dict[str, Any]:
        """Return ``info`` as users know it; docs/agents.md lists the keys."""
        info: dict[str, Any] = {
            **self.program_info,
            "env_status.episode_id": _text(self.episode_id),
            "env_status.env_state": self.state,
            "stats.vnc.updates.n": self.updates,
            "stats.vnc.updates.pixels": self.pixels,
        }
        if self.peek is None:
            info["stats.reward.count"] = self.reward_count
        else:
            episode_id, state = self.peek
            info |= {
                "peek": True,
                "env_status.peek.episode_id": _text(episode_id),
                "env_status.peek.env_state": state,
            }
        if self.done:
            info["terminated"], info["truncated"] = self.terminated, self.truncated
        if self.completed_id is not None:
            info["env_status.complete.episode_id"] = str(self.completed_id)
            if self.error is None:
                info["env_status.complete.env_state"] = self.completed_state
        for key, value in zip(_KEYS, _latest(self), strict=False):
            if value is not None and value is not False:
                info[key] = value
        return info

    def reported_info(self) -> dict[str, Any]:
        """Return the part of ``info`` that isn't measured: what the program reported, and ``error``."""
        info = {key: value for key, value in self.program_info.items() if not key.startswith(MEASURED)}
        if self.error is not None:
            info["error"] = self.error
        return info


# Times, and bounds of differences of times, under the keys that users see them by.
TIMES: Final = {
    "diagnostics.image_local_time": "picture_at",
    "diagnostics.image_remote_time": "painted_at",
    "reward_buffer.remote_time": "message_sent_at",
    "reward_buffer.local_time": "message_received_at",
}
BOUNDS: Final = {
    f"{PREFIX}clock_skew": "skew",
    f"{PREFIX}lag.observation": "observation_lag",
    f"{PREFIX}lag.action": "action_lag",
    f"{PREFIX}lag.reward": "reward_lag",
    f"{PREFIX}lag.rewarder_message": "message_lag",
}
# Fields that users see under these keys, unless they are None or False.
_FIELDS: Final = {
    "error": "error",
    "env_status.disconnected": "disconnected",
    "env_status.reconnecting": "reconnecting",
    "mask.masked.action": "masked_action",
    "mask.masked.observation": "masked_observation",
    **TIMES,
    **BOUNDS,
}
_KEYS: Final = tuple(_FIELDS)
_LATEST: Final = (*_FIELDS.values(), "completed_id", "completed_state")

# All at once, since this is done for each environment in each step.
_latest: Final = attrgetter(*_LATEST)


def _text(episode_id: int | None) -> str | None:
    return None if episode_id is None else str(episode_id)
