"""Sorts the messages of one remote's rewarder by episode, so that no reward counts for the wrong one. Pure.

Messages are put in as they come; each ``pop`` takes out those of *one* episode, and its end once. Those of the next
episode wait for the next ``pop``. Between ``mask`` (a reset was requested) and ``unmask`` (it was granted) ``pop``
returns nothing; then all that belongs to older episodes is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isinf
from typing import Any, Final

from pluriverse_protocol.messages import Describe, Observation, Reward, ServerMessage, Text

from .merge import merge_info, reported

# Of texts that nobody took only the last are kept, as on the remote's own side.
MAX_TEXTS: Final = 64

# Episodes that ended while the agent didn't step: an hour of one each second. The oldest are dropped.
MAX_EPISODES: Final = 4096

RUNNING: Final = "running"


class RewardsOverflow(ValueError):
    """A remote's rewards can't be added up."""


@dataclass(frozen=True, slots=True)
class Popped:
    """The messages of one remote that a step returns.

    ``reward``, ``done``, ``terminated``, ``truncated``, ``count`` and ``info`` are of the episode ``completed_id`` if
    one ended, otherwise of ``episode_id``; ``completed_texts`` and ``completed_observation`` are its last. ``texts``,
    ``observation`` and ``state`` are of ``episode_id``, which is None until the remote has described the next episode.
    ``current``: that episode runs and is the one on the screen. ``remote_time`` and ``local_time`` are when the last
    message was sent and received, in UNIX seconds of either clock; ``running_since`` is such a pair.
    """

    episode_id: int | None
    state: str | None
    current: bool = False
    reward: float = 0.0
    done: bool = False
    terminated: bool = False
    truncated: bool = False
    count: int = 0
    info: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: list[str] = field(default_factory=list[str])
    observation: Observation | None = None
    remote_time: float | None = None
    local_time: float | None = None
    running_since: tuple[float, float] | None = None
    completed_id: int | None = None
    completed_state: str | None = None
    completed_texts: list[str] = field(default_factory=list[str])
    completed_observation: Observation | None = None


@dataclass(slots=True)
class _Episode:
    id: int
    state: str | None = None
    running_since: tuple[float, float] | None = None
    # Gains and losses of the episode so far, added up: while it is finite, so is the sum of any of them.
    gross: float = 0.0
    reward: float = 0.0
    count: int = 0
    done: bool = False
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: list[str] = field(default_factory=list[str])
    observation: Observation | None = None
    remote_time: float | None = None
    local_time: float | None = None

    def take_reward(self, message: Reward) -> None:
        self.gross += abs(message.reward)
        if isinf(self.gross):
            raise RewardsOverflow("its rewards add up to infinity")
        self.reward += message.reward
        self.count += 1
        merge_info(self.info, reported(message.info))
        if message.done:
            self.truncated = bool(message.truncated)
            # Old remotes send neither; their episodes end by an outcome.
            self.terminated = message.terminated if message.terminated is not None else not self.truncated
            self.done = True


class RewardBuffer:
    """One remote's buffer. Not thread-safe."""

    def __init__(self) -> None:
        self._episodes: list[_Episode] = []
        # Messages of this episode and older ones are dropped.
        self._ended = -1
        self._masked = True
        self._granted: int | None = None

    # ── from the remote ─────────────────────────────────────────────────────────────────────────────────────────────

    def put(self, message: ServerMessage, episode_id: int, sent_at: float, received_at: float) -> None:
        """Add a message of an episode; only descriptions, rewards, texts and observations have an effect.

        ``sent_at`` is in the remote's UNIX seconds, ``received_at`` in ours.
        """
        episode = self._episode(episode_id)
        if episode is None or episode.done:
            return
        episode.remote_time, episode.local_time = sent_at, received_at
        match message:
            case Describe(env_state=state, info=info):
                if state == RUNNING and episode.state != RUNNING:
                    episode.running_since = sent_at, received_at
                episode.state = state
                merge_info(episode.info, reported(info or {}))
            case Reward():
                episode.take_reward(message)
            case Text(text):
                episode.texts = [*episode.texts[1 - MAX_TEXTS :], text]
            case Observation():
                episode.observation = message
            case _:
                return

    def unmask(self, episode_id: int) -> None:
        """Note that the reset was granted, and began ``episode_id``."""
        self._masked = False
        self._granted = episode_id
        self._ended = max(self._ended, episode_id - 1)
        self._episodes = [episode for episode in self._episodes if episode.id >= episode_id]
        self._episode(episode_id)

    # ── from the agent ──────────────────────────────────────────────────────────────────────────────────────────────

    def mask(self) -> None:
        """Note that a reset was requested: ``pop`` returns nothing until ``unmask``."""
        self._masked = True
        self._granted = None

    @property
    def masked(self) -> bool:
        """Whether a reset was requested and has not been granted yet."""
        return self._masked

    def pop(self) -> Popped:
        """Take what has come for the oldest episode whose end the agent hasn't got yet."""
        if self._masked or not self._episodes:
            return Popped(None, None)
        episode = self._episodes[0]
        fields: dict[str, Any] = {
            "reward": episode.reward,
            "count": episode.count,
            "info": self._take_info(episode),
            "remote_time": episode.remote_time,
            "local_time": episode.local_time,
        }
        episode.reward, episode.count, episode.remote_time, episode.local_time = 0.0, 0, None, None
        if episode.done:
            fields |= {
                "done": True,
                "terminated": episode.terminated,
                "truncated": episode.truncated,
                "completed_id": episode.id,
                "completed_state": episode.state,
                "completed_texts": episode.texts,
                "completed_observation": episode.observation,
            }
            self._ended = self._episodes.pop(0).id
            if not self._episodes:
                return Popped(None, None, **fields)
            episode = self._episodes[0]
        texts, episode.texts = episode.texts, []
        return self._popped(episode, texts=texts, **fields)

    def peek(self) -> tuple[Popped, Popped]:
        """Return the episode that the agent is in and the one that the remote is in, without taking anything."""
        if self._masked or not self._episodes:
            return Popped(None, None), Popped(None, None)
        first, last = self._episodes[0], self._episodes[-1]
        return self._popped(first), self._popped(last)

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _episode(self, episode_id: int) -> _Episode | None:
        if episode_id <= self._ended:
            return None
        if not self._episodes or episode_id > self._episodes[-1].id:
            self._begin(episode_id)
        return next((episode for episode in self._episodes if episode.id == episode_id), None)

    def _begin(self, episode_id: int) -> None:
        if self._episodes and not self._episodes[-1].done:
            # The remote went on without reporting how it ended.
            lost = self._episodes[-1]
            lost.done = lost.truncated = True
            lost.info["env_status.artificial.done"] = True
        self._episodes.append(_Episode(episode_id))
        if len(self._episodes) > MAX_EPISODES:
            del self._episodes[0]
            self._ended = self._episodes[0].id - 1

    def _take_info(self, episode: _Episode) -> dict[str, Any]:
        info, episode.info = episode.info, {}
        if self._granted is not None:
            info["env_status.reset.episode_id"] = str(self._granted)
            self._granted = None
        return info

    def _popped(self, episode: _Episode, **fields: Any) -> Popped:
        current = episode.state == RUNNING and not episode.done and episode is self._episodes[-1]
        return Popped(
            episode.id,
            episode.state,
            current,
            observation=episode.observation,
            running_since=episode.running_since,
            **fields,
        )
