"""What came of an environment in one step: the one record from the wire to the agent, and to its ``info``. Pure.

Infos of several moments are merged into one: counts add up, everything else is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pluriverse.diagnostics import Bounds
from pluriverse.rfb.picture import Pixels
from pluriverse.spaces import Observation, ScreenObservation

COUNTS: Final = "stats."
GAUGES: Final = "stats.gauges."

# Agents know some dozens of keys; a server that invents new ones costs no more memory than this.
MAX_INFO_KEYS: Final = 1024


# The client's own keys, which a remote can't set.
OWN_KEYS: Final = frozenset({"error", "n", "peek", "terminated", "truncated"})
OWN_PREFIXES: Final = (
    "diagnostics.",
    "env_status.",
    "mask.",
    "reward_buffer.",
    "stats.gauges.diagnostics.",
    "stats.reward.",
    "stats.vnc.",
)

# The state of an environment whose episode goes on.
RUNNING: Final = "running"

PREFIX: Final = "stats.gauges.diagnostics."

# Keys of this kind differ from run to run; what a program reports has no such names.
MEASURED: Final = ("stats.", "diagnostics.", "env_status.", "mask.", "rewarder.", "reward_buffer.")


class Lags(NamedTuple):
    """Bounds of lags in seconds, and of the clocks' difference; None: not known, or nothing new."""

    clock_skew: Bounds | None = None
    """By our clock, with ``Result.image_remote_time``."""
    observation: Bounds | None = None
    action: Bounds | None = None
    reward: Bounds | None = None
    rewarder_message: Bounds | None = None

    def merged(self, later: Lags) -> Lags:
        """Return the latest that is known of each."""
        return Lags(
            later.clock_skew or self.clock_skew,
            later.observation or self.observation,
            later.action or self.action,
            later.reward or self.reward,
            later.rewarder_message or self.rewarder_message,
        )

    @property
    def ms(self) -> dict[str, Bounds]:
        """The lags that are known of what agents see, do and earn, in milliseconds."""
        known = {name: getattr(self, name) for name in ("observation", "action", "reward")}
        return {name: (1000 * each[0], 1000 * each[1]) for name, each in known.items() if each is not None}


_NO_LAGS: Final = Lags()
_NO_INFO: Final[Mapping[str, Any]] = MappingProxyType({})


class Result(NamedTuple):
    """What came of one environment in one look at it, or in several, ``merged``. None: not known, or nothing new.

    ``reward``, ``done``, ``terminated`` and ``truncated`` are of the episode ``completed_id`` where one ended, and else
    of ``episode_id``, as what is to be seen is.
    """

    vision: Pixels | None = None
    """The screen now, or the picture that was asked for; of the episode unless ``masked_observation``."""
    texts: tuple[str, ...] = ()
    """The texts that came, the latest last; of merged looks also the latest of those before."""
    observation: Any = None
    """The episode's latest structured observation."""
    reward: float = 0.0
    done: bool = False
    terminated: bool = False
    truncated: bool = False
    """Also without ``done``, by the agent's own limit of steps."""
    first: bool = False
    """Whether this is the episode's first result, whose reward is 0."""
    elapsed: int = 0
    """The number of the episode's steps, where they are counted."""
    info: Mapping[str, Any] = _NO_INFO
    """What the program reported with its rewards; where steps are counted, the latest ``lives`` are in each."""

    episode_id: int | None = None
    env_state: str | None = None
    running_since: Bounds | None = None
    """When the remote reported that the episode runs, in UNIX seconds of its clock and of ours."""
    completed_id: int | None = None
    completed_state: str | None = None
    completed_texts: tuple[str, ...] = ()
    completed_observation: Any = None
    peek: tuple[int | None, str | None] | None = None
    """Of a look that took nothing: the remote's episode id and state."""

    error: str | None = None
    """Why the connection was lost, in the step that noticed."""
    disconnected: bool = False
    reconnecting: bool = False
    """Whether a connection is being restored: the episode continues unseen, and keys wait until then."""
    masked_action: bool = False
    masked_observation: bool = False
    reward_count: int = 0
    """How many reward messages came."""
    updates: int = 0
    """How many updates of the screen came."""
    pixels: int = 0
    """How many pixels these changed."""
    image_local_time: float | None = None
    """When the screen had come, in UNIX seconds by our clock."""
    image_remote_time: float | None = None
    """When it was painted, by the remote's."""
    remote_time: float | None = None
    """When the rewarder's last message was sent, by the remote's clock."""
    local_time: float | None = None
    """When that came, by ours."""
    lags: Lags = _NO_LAGS
    sound: NDArray[np.int16] | None = None
    """What was played, shape (frames, 2): left and right."""

    @property
    def picture(self) -> Pixels:
        """``vision``, which each answer to an agent has."""
        assert self.vision is not None
        return self.vision

    @property
    def text(self) -> str:
        """The latest text."""
        return self.texts[-1] if self.texts else ""

    @property
    def lives(self) -> Any:
        """The lives that the program reported; None: it reports none."""
        return self.info.get("lives")

    @property
    def over(self) -> bool:
        """Whether the episode is over, be it by the agent's own limit."""
        return self.terminated or self.truncated

    @property
    def lost(self) -> bool:
        """Whether the episode ended since the remote broke."""
        return self.done and self.error is not None

    def merged(self, later: Result) -> Result:
        """Return both as one: what was earned and counted adds up, everything else is the latest that is known.

        Where an episode ended, what is to be seen is the last of that.
        """
        vision, texts, observation = later.vision, later.texts, later.observation
        if later.completed_id is not None:
            texts, observation = later.completed_texts, later.completed_observation
            # A picture that comes with the end is the next episode's already; until then it is still the old one's.
            if not later.masked_observation or (
                vision is not None and self.vision is not None and vision.shape != self.vision.shape
            ):
                vision = None
        elif later.masked_observation:
            vision = None
        info = later.info or self.info
        if self.info and later.info:
            info = dict(self.info)
            merge_info(info, later.info)
        ended = later if later.done else self
        return Result(
            self.vision if vision is None else vision,
            self.texts + texts,
            self.observation if observation is None else observation,
            self.reward + later.reward,
            ended.done,
            ended.terminated,
            ended.truncated,
            self.first,
            self.elapsed,
            info,
            later.episode_id,
            later.env_state,
            later.running_since,
            self.completed_id if later.completed_id is None else later.completed_id,
            later.completed_state or self.completed_state,
            later.completed_texts or self.completed_texts,
            self.completed_observation if later.completed_observation is None else later.completed_observation,
            later.peek,
            later.error or self.error,
            self.disconnected or later.disconnected,
            self.reconnecting or later.reconnecting,
            self.masked_action or later.masked_action,
            self.masked_observation or later.masked_observation,
            self.reward_count + later.reward_count,
            self.updates + later.updates,
            self.pixels + later.pixels,
            later.image_local_time or self.image_local_time,
            later.image_remote_time or self.image_remote_time,
            later.remote_time or self.remote_time,
            later.local_time or self.local_time,
            later.lags if self.lags is _NO_LAGS else self.lags.merged(later.lags),
            self.sound if later.sound is None else later.sound,
        )

    def following(self, reward: float = 0.0) -> Result:
        """Return what holds at the beginning of the episode's next step, to which what comes of it is merged.

        ``reward`` was earned before.
        """
        info = {"lives": self.info["lives"]} if "lives" in self.info else _NO_INFO
        return Result(self.vision, self.texts[-1:], self.observation, reward, elapsed=self.elapsed + 1, info=info)

    def idle(self) -> Result:
        """Return the next look's result for an episode that continues, if nothing has arrived in between."""
        return Result(
            observation=self.observation,
            episode_id=self.episode_id,
            env_state=self.env_state,
            running_since=self.running_since,
            masked_action=self.masked_action,
        )

    def screen_observation(self) -> Observation:
        """Return it as Universe's agents see it; None where it isn't of the episode."""
        if self.masked_observation:
            return None
        observation: ScreenObservation = {"vision": self.vision, "text": list(self.texts)}
        if self.observation is not None:
            observation["observation"] = self.observation
        return observation

    def full_info(self) -> dict[str, Any]:
        """Return ``info`` as users know it, a new dict; docs/agents.md lists the keys."""
        info: dict[str, Any] = {
            **self.info,
            "env_status.episode_id": None if self.episode_id is None else str(self.episode_id),
            "env_status.env_state": self.env_state,
            "stats.vnc.updates.n": self.updates,
            "stats.vnc.updates.pixels": self.pixels,
        }
        if self.peek is None:
            info["stats.reward.count"] = self.reward_count
        else:
            episode_id, info["env_status.peek.env_state"] = self.peek
            info["peek"], info["env_status.peek.episode_id"] = True, None if episode_id is None else str(episode_id)
        if self.done:
            info["terminated"], info["truncated"] = self.terminated, self.truncated
        if self.completed_id is not None:
            info["env_status.complete.episode_id"] = str(self.completed_id)
            if self.error is None:
                info["env_status.complete.env_state"] = self.completed_state
        for key, place in _PLACES:
            if (value := self[place]) is not None and value is not False:
                info[key] = value
        for place, bounds in enumerate(self.lags):
            if bounds is not None:
                info[BOUNDS[place]] = bounds
        return info

    def reported_info(self) -> dict[str, Any]:
        """Return what the program reported, and ``error``: without measurements, which differ from run to run."""
        info = {key: value for key, value in self.info.items() if not key.startswith(MEASURED)}
        if self.error is not None:
            info["error"] = self.error
        return info


# The fields that ``info`` has under these keys, unless they are None or False: times, lags, and others.
TIMES: Final = {
    "diagnostics.image_local_time": "image_local_time",
    "diagnostics.image_remote_time": "image_remote_time",
    "reward_buffer.remote_time": "remote_time",
    "reward_buffer.local_time": "local_time",
}
BOUNDS: Final = tuple(f"{PREFIX}{'' if name == 'clock_skew' else 'lag.'}{name}" for name in Lags._fields)
_OTHERS: Final = {
    "error": "error",
    "env_status.disconnected": "disconnected",
    "env_status.reconnecting": "reconnecting",
    "mask.masked.action": "masked_action",
    "mask.masked.observation": "masked_observation",
}
_PLACES: Final = [(key, Result._fields.index(name)) for key, name in {**_OTHERS, **TIMES}.items()]


def reported(info: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ``info`` of a reward without the client's own keys."""
    if any(_is_own(key) for key in info):
        return {key: value for key, value in info.items() if not _is_own(key)}
    return info


def _is_own(key: str) -> bool:
    return key in OWN_KEYS or key.startswith(OWN_PREFIXES)


def merge_info(into: dict[str, Any], later: Mapping[str, Any]) -> None:
    """Merge ``later`` into ``into``: numbers under ``stats.`` add up, but ``stats.gauges.`` and others are replaced."""
    for key, value in later.items():
        if key not in into and len(into) >= MAX_INFO_KEYS:
            continue
        if key.startswith(COUNTS) and not key.startswith(GAUGES) and _is_number(value) and _is_number(into.get(key)):
            into[key] += value
        else:
            into[key] = value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
