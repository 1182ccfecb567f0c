"""Sorts the messages of one remote's rewarder by episode, so that no reward counts for the wrong one. Pure.

Messages are put in as they come; each ``pop`` takes out those of *one* episode, and its end once. Those of the next
episode wait for the next ``pop``. Between ``mask`` (a reset was requested) and ``unmask`` (it was granted) ``pop``
returns nothing; then all that belongs to older episodes is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf
from typing import Any, Final

from pluriverse_protocol.messages import Describe, Observation, Reward, ServerMessage, Text

from .result import RUNNING, Result, merge_info, reported

# Of unread texts only the last are kept, as on the remote's side.
MAX_TEXTS: Final = 64

# Episodes that ended while the agent didn't step: an hour of one each second. The oldest are dropped.
MAX_EPISODES: Final = 4096

_MASKED: Final = Result(masked_action=True)


class RewardsOverflow(ValueError):
    """A remote's rewards can't be added up."""


@dataclass(slots=True)
class _Episode:
    """An episode: what has ``come`` of it since it was popped last. Apart, since ``gross`` outlives each pop."""

    come: Result
    # Gains and losses of the episode so far, added up: while it is finite, so is the sum of any of them.
    gross: float = 0.0

    @property
    def id(self) -> int:
        assert self.come.episode_id is not None
        return self.come.episode_id

    def take(self, message: ServerMessage, sent_at: float, received_at: float) -> None:
        come = self.come._replace(remote_time=sent_at, local_time=received_at)
        match message:
            case Describe(env_state=state, info=info):
                since = come.running_since if state != RUNNING or come.env_state == RUNNING else (sent_at, received_at)
                come = come._replace(env_state=state, running_since=since, info=self._info(info or {}))
            case Reward(reward, done, info):
                self.gross += abs(reward)
                if isinf(self.gross):
                    raise RewardsOverflow("its rewards add up to infinity")
                count = come.reward_count + 1
                come = come._replace(reward=come.reward + reward, reward_count=count, info=self._info(info))
                if done:
                    truncated = bool(message.truncated)
                    # Old remotes send neither; their episodes end by an outcome.
                    terminated = message.terminated if message.terminated is not None else not truncated
                    come = come._replace(done=True, terminated=terminated, truncated=truncated)
            case Text(text):
                come = come._replace(texts=(*come.texts[1 - MAX_TEXTS :], text))
            case Observation(observation):
                come = come._replace(observation=observation)
            case _:
                pass
        self.come = come

    def break_off(self) -> None:
        """End an episode that the remote left without reporting how it ended."""
        info = {**self.come.info, "env_status.artificial.done": True}
        self.come = self.come._replace(done=True, truncated=True, info=info)

    def _info(self, later: Mapping[str, Any]) -> Mapping[str, Any]:
        info = dict(self.come.info)
        merge_info(info, reported(later))
        return info


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
        if episode is not None and not episode.come.done:
            episode.take(message, sent_at, received_at)

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

    def runs(self, *, peek: bool = False) -> bool:
        """Return whether the episode runs that ``pop``, or ``peek``, would show."""
        if self._masked or not self._episodes:
            return False
        ended = not peek and self._episodes[0].come.done
        return any(map(self._is_current, self._episodes[-1:] if peek else self._episodes[ended : ended + 1]))

    def pop(self) -> Result:
        """Take what has come for the oldest episode whose end the agent hasn't got yet.

        After its end, what is to be seen is of the next episode, once the remote has described that.
        """
        if self._masked or not self._episodes:
            return _MASKED
        episode = self._episodes[0]
        popped = episode.come
        if self._granted is not None:
            popped = popped._replace(info={**popped.info, "env_status.reset.episode_id": str(self._granted)})
            self._granted = None
        if popped.done:
            self._ended = self._episodes.pop(0).id
            episode = self._episodes[0] if self._episodes else _Episode(Result())
            come = episode.come
            popped = popped._replace(
                completed_id=popped.episode_id,
                completed_state=popped.env_state,
                completed_texts=popped.texts,
                completed_observation=popped.observation,
                episode_id=come.episode_id,
                env_state=come.env_state,
                running_since=come.running_since,
                texts=come.texts,
                observation=come.observation,
            )
            episode.come = come._replace(texts=())
        else:
            episode.come = popped.idle()
        return popped if self._is_current(episode) else popped._replace(masked_action=True)

    def peek(self) -> Result:
        """Return what is to be seen of the episode that the remote is in, without taking anything.

        ``episode_id`` and ``env_state`` are of the one that the agent is in, ``peek`` of the remote's.
        """
        if self._masked or not self._episodes:
            return _MASKED._replace(peek=(None, None))
        first, last = self._episodes[0].come, self._episodes[-1].come
        return Result(
            episode_id=first.episode_id,
            env_state=first.env_state,
            peek=(last.episode_id, last.env_state),
            observation=last.observation,
            running_since=last.running_since,
            masked_action=not self._is_current(self._episodes[-1]),
        )

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _is_current(self, episode: _Episode) -> bool:
        """Return whether an episode runs, and is the one on the screen."""
        return episode.come.env_state == RUNNING and not episode.come.done and episode is self._episodes[-1]

    def _episode(self, episode_id: int) -> _Episode | None:
        if episode_id <= self._ended:
            return None
        if not self._episodes or episode_id > self._episodes[-1].id:
            self._begin(episode_id)
        return next((episode for episode in self._episodes if episode.id == episode_id), None)

    def _begin(self, episode_id: int) -> None:
        if self._episodes and not self._episodes[-1].come.done:
            self._episodes[-1].break_off()
        self._episodes.append(_Episode(Result(episode_id=episode_id)))
        if len(self._episodes) > MAX_EPISODES:
            del self._episodes[0]
            self._ended = self._episodes[0].id - 1
