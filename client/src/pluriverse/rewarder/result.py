"""What came of an environment in one step: the one record from the wire to the agent, and to its ``info``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pluriverse.rfb.picture import Pixels
from pluriverse.spaces import Observation, ScreenObservation

from .merge import merge_info

# The state of an environment whose episode goes on.
RUNNING: Final = "running"

PREFIX: Final = "stats.gauges.diagnostics."

# Keys of this kind differ from run to run; what a program reports has no such names.
MEASURED: Final = ("stats.", "diagnostics.", "env_status.", "mask.", "rewarder.", "reward_buffer.")

Bounds = tuple[float, float]


class Lags(NamedTuple):
    """Bounds of lags in seconds, and of the clocks' difference; None: not known, or nothing new."""

    clock_skew: Bounds | None = None
    """By our clock, with ``Result.image_remote_time``."""
    observation: Bounds | None = None
    action: Bounds | None = None
    reward: Bounds | None = None
    rewarder_message: Bounds | None = None

    @property
    def ms(self) -> dict[str, Bounds]:
        """The lags that are known of what agents see, do and earn, in milliseconds."""
        known = {name: getattr(self, name) for name in ("observation", "action", "reward")}
        return {name: (1000 * each[0], 1000 * each[1]) for name, each in known.items() if each is not None}


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
    info: Mapping[str, Any] = MappingProxyType({})
    """What the program reported with its rewards; where steps are counted, the latest ``lives`` are in each."""

    episode_id: int | None = None
    env_state: str | None = None
    running_since: Bounds | None = None
    """When the remote said that the episode runs, in UNIX seconds of its clock and of ours."""
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
    """Whether a line is broken and being mended: the episode goes on unseen, and keys wait until it is whole."""
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
    lags: Lags = Lags()

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
            Lags._make(map(_latest, self.lags, later.lags)) if any(later.lags) else self.lags,
        )

    def following(self) -> Result:
        """Return what holds at the beginning of the episode's next step, to which what comes of it is merged."""
        info = {"lives": self.info["lives"]} if "lives" in self.info else {}
        return Result(self.vision, self.texts[-1:], self.observation, elapsed=self.elapsed + 1, info=info)

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
            "env_status.episode_id": _text(self.episode_id),
            "env_status.env_state": self.env_state,
            "stats.vnc.updates.n": self.updates,
            "stats.vnc.updates.pixels": self.pixels,
        }
        if self.peek is None:
            info["stats.reward.count"] = self.reward_count
        else:
            episode_id, state = self.peek
            info |= {"peek": True, "env_status.peek.episode_id": _text(episode_id), "env_status.peek.env_state": state}
        if self.done:
            info["terminated"], info["truncated"] = self.terminated, self.truncated
        if self.completed_id is not None:
            info["env_status.complete.episode_id"] = str(self.completed_id)
            if self.error is None:
                info["env_status.complete.env_state"] = self.completed_state
        for key, value in zip(_KEYS, _known(self), strict=True):
            if value is not None and value is not False:
                info[key] = value
        return info

    def reported_info(self) -> dict[str, Any]:
        """Return what the program reported, and ``error``: without measurements, which differ from run to run."""
        info = {key: value for key, value in self.info.items() if not key.startswith(MEASURED)}
        if self.error is not None:
            info["error"] = self.error
        return info


# The fields that ``info`` has under these keys, unless they are None or False: times, bounds, and others.
TIMES: Final = {
    "diagnostics.image_local_time": "image_local_time",
    "diagnostics.image_remote_time": "image_remote_time",
    "reward_buffer.remote_time": "remote_time",
    "reward_buffer.local_time": "local_time",
}
BOUNDS: Final = {f"{PREFIX}{'' if name == 'clock_skew' else 'lag.'}{name}": f"lags.{name}" for name in Lags._fields}
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

# All at once, since this is done for each environment in each step.
_known: Final = attrgetter(*_FIELDS.values())


def _latest(earlier: Bounds | None, later: Bounds | None) -> Bounds | None:
    return earlier if later is None else later


def _text(episode_id: int | None) -> str | None:
    return None if episode_id is None else str(episode_id)
