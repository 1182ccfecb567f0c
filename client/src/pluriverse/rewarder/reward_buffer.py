"""Joins what one remote's rewarder says to episodes, so that nothing is attributed across an edge. Pure.

Messages are put in as they come; the agent's step takes out what has come for *one* episode, and its end at most once.
What belongs to the next episode waits until the next ``pop``. Between ``mask`` (a reset was asked for) and ``unmask``
(it was granted) everything that comes out is empty; then whatever belongs to older episodes is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pluriverse_protocol.messages import Describe, Observation, Reward, ServerMessage, Text

from .merge import merge_info

# Texts that nobody took are old news beyond the last of these, as on the remote's own side.
MAX_TEXTS: Final = 64

# Episodes that ended while the agent didn't step: an hour of an episode each second. The oldest are dropped.
MAX_EPISODES: Final = 4096

RUNNING: Final = "running"


@dataclass(frozen=True, slots=True)
class Popped:
    """What one step gets of one remote.

    ``reward``, ``done``, ``terminated``, ``truncated``, ``count`` and ``info`` are of the episode ``completed_id``
    where one ended, else of ``episode_id``; ``completed_texts`` and ``completed_observation`` are its last. ``texts``,
    ``observation`` and ``state`` are of ``episode_id``, which is None until the remote has said what comes next.
    ``current`` tells that it runs, and is what is on the screen. ``remote_time`` and ``local_time`` are when the last
    message was sent and received, UNIX seconds of either clock.
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
        self.reward += message.reward
        self.count += 1
        merge_info(self.info, message.info)
        if message.done:
            self.truncated = bool(message.truncated)
            # Old remotes tell neither; their episodes end by an outcome.
            self.terminated = message.terminated if message.terminated is not None else not self.truncated
            self.done = True


class RewardBuffer:
    """One remote's buffer. Not thread-safe: whoever shares it holds a lock."""

    def __init__(self) -> None:
        self._episodes: list[_Episode] = []
        # Nothing of this episode or older ones is taken in any more.
        self._ended = -1
        self._masked = True
        self._granted: int | None = None
        self.stale = 0

    # ── what the remote says ────────────────────────────────────────────────────────────────────────────────────────

    def put(self, message: ServerMessage, episode_id: int, sent_at: float, received_at: float) -> None:
        """Take in a message that belongs to an episode; others than describe, reward, text, observation do nothing.

        ``sent_at`` is in the remote's UNIX seconds, ``received_at`` in ours.
        """
        episode = self._episode(episode_id)
        if episode is None or episode.done:
            self.stale += 1
            return
        episode.remote_time, episode.local_time = sent_at, received_at
        match message:
            case Describe(env_state=state):
                if state == RUNNING and episode.state != RUNNING:
                    episode.running_since = sent_at, received_at
                episode.state = state
            case Reward():
                episode.take_reward(message)
            case Text(text):
                episode.texts = [*episode.texts[1 - MAX_TEXTS :], text]
            case Observation():
                episode.observation = message
            case _:
                return

    def unmask(self, episode_id: int) -> None:
        """The reset was granted: it began ``episode_id``."""
        self._masked = False
        self._granted = episode_id
        self._ended = max(self._ended, episode_id - 1)
        self._episodes = [episode for episode in self._episodes if episode.id >= episode_id]
        self._episode(episode_id)

    # ── what the agent does ─────────────────────────────────────────────────────────────────────────────────────────

    def mask(self) -> None:
        """A reset has been asked for: nothing comes out until ``unmask``."""
        self._masked = True
        self._granted = None

    @property
    def masked(self) -> bool:
        """Whether a reset has been asked for and not been granted yet."""
        return self._masked

    def pop(self) -> Popped:
        """Take what has come for the oldest episode that isn't over yet for the agent."""
        if self._masked or not self._episodes:
            return Popped(None, None)
        episode = self._episodes[0]
        info = self._take_info(episode)
        if not episode.done:
            return self._popped(episode, info, reward=episode.reward, count=episode.count)
        self._advance()
        following = self._episodes[0] if self._episodes else None
        return self._popped(
            following,
            info,
            reward=episode.reward,
            count=episode.count,
            done=True,
            terminated=episode.terminated,
            truncated=episode.truncated,
            completed_id=episode.id,
            completed_state=episode.state,
            completed_texts=episode.texts,
            completed_observation=episode.observation,
            remote_time=episode.remote_time,
            local_time=episode.local_time,
        )

    def peek(self) -> tuple[Popped, Popped]:
        """Where the agent is, and where the remote is, without taking anything."""
        if self._masked or not self._episodes:
            return Popped(None, None), Popped(None, None)
        first, last = self._episodes[0], self._episodes[-1]
        return self._seen(first), self._seen(last)

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _episode(self, episode_id: int) -> _Episode | None:
        """The episode of this id; None if it is over."""
        if episode_id <= self._ended:
            return None
        if not self._episodes or episode_id > self._episodes[-1].id:
            self._begin(episode_id)
        return next((episode for episode in self._episodes if episode.id == episode_id), None)

    def _begin(self, episode_id: int) -> None:
        if self._episodes and not self._episodes[-1].done:
            # The remote went on without saying how it ended.
            lost = self._episodes[-1]
            lost.done = lost.truncated = True
            lost.info["env_status.artificial.done"] = True
        self._episodes.append(_Episode(episode_id))
        if len(self._episodes) > MAX_EPISODES:
            del self._episodes[0]
            self._ended = self._episodes[0].id - 1

    def _advance(self) -> None:
        self._ended = self._episodes.pop(0).id

    def _take_info(self, episode: _Episode) -> dict[str, Any]:
        info, episode.info = episode.info, {}
        if self._granted is not None:
            info["env_status.reset.episode_id"] = str(self._granted)
            self._granted = None
        return info

    def _popped(self, episode: _Episode | None, info: dict[str, Any], **fields: Any) -> Popped:
        """What comes out with ``episode`` as the one that goes on; what has come of it is taken, if no other's is."""
        if episode is None:
            return Popped(None, None, info=info, **fields)
        texts, episode.texts = episode.texts, []
        times: Mapping[str, Any] = {"remote_time": episode.remote_time, "local_time": episode.local_time}
        if not fields.get("done"):
            episode.reward, episode.count = 0.0, 0
            episode.remote_time = episode.local_time = None
        return Popped(
            episode_id=episode.id,
            state=episode.state,
            current=self._is_current(episode),
            info=info,
            texts=texts,
            observation=episode.observation,
            running_since=episode.running_since,
            **{**times, **fields},
        )

    def _seen(self, episode: _Episode) -> Popped:
        return Popped(
            episode.id,
            episode.state,
            current=self._is_current(episode),
            observation=episode.observation,
            running_since=episode.running_since,
        )

    def _is_current(self, episode: _Episode) -> bool:
        return episode.state == RUNNING and not episode.done and episode is self._episodes[-1]
