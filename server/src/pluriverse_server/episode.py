"""The episode machine: turns resets and reports into messages. Pure; time is passed in.

It runs the table of ``pluriverse_protocol.episodes``: each event is looked up, and the steps that follow are returned
as outputs, in the order in which they must be carried out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from msgspec import structs
from pluriverse_protocol import messages, reports
from pluriverse_protocol.env_options import Value
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.episodes import TRANSITIONS, Event, State, Step
from pluriverse_protocol.limits import DRAWN_SEED_BITS

# Agents are promised a reward message at least once a second; the rest is the time to send it.
HEARTBEAT_S: Final = 0.8


@dataclass(frozen=True, slots=True)
class Environment:
    """A catalogue entry as the machine needs it, with a value for each of its options. Times are seconds.

    In lockstep the program itself ends episodes after ``time_limit_s`` of its own time.
    """

    env_id: str
    fps: float = 60.0
    sync: bool = False
    time_limit_s: float | None = None
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    clock: Literal["realtime", "lockstep"] = "realtime"


@dataclass(frozen=True, slots=True)
class Send:
    message: messages.Describe | messages.Reward | messages.Text | messages.Observation
    episode_id: int


@dataclass(frozen=True, slots=True)
class Begin:
    episode_id: int
    environment: Environment
    seed: int
    fps: float
    asked: bool = True
    """Whether somebody has asked for it; else it follows the end of another."""


@dataclass(frozen=True, slots=True)
class Finished:
    episode_id: int
    env_id: str
    reward: float
    seconds: float
    terminated: bool
    reason: str


Output = Send | Begin | Finished


@dataclass(slots=True)
class Episode:
    """The current episode. ``started_at`` is None until it runs; times are UNIX seconds."""

    episode_id: int
    environment: Environment
    seed: int
    fps: float
    asked: bool = True
    picture: tuple[int, int, int, int] | None = None
    spaces: Spaces | None = None
    started_at: float | None = None
    reward: float = 0.0
    frames: int = 0
    late_frames: int = 0
    frame_at: float | None = None
    last_reward_at: float = 0.0
    early: dict[type, messages.Text | messages.Observation] = field(default_factory=dict[type, Any])
    """The last text and observation that came before it ran."""

    def seconds(self, now: float) -> float:
        """Return how long it has run: in lockstep the program's time, which stands still between steps."""
        if self.environment.clock == "lockstep":
            return self.frames / self.fps
        # Not negative if the clock was set back.
        return max(0.0, now - self.started_at) if self.started_at is not None else 0.0


@dataclass(frozen=True, slots=True)
class Ending:
    reason: str
    terminated: bool = False
    truncated: bool = True
    reward: float = 0.0
    at: float | None = None
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])


class EpisodeMachine:
    def __init__(self, describe: Callable[[messages.Describe], messages.Describe], entropy: int) -> None:
        """Use ``describe`` to complete descriptions, and ``entropy`` to seed episodes without a seed of their own."""
        self._describe = describe
        self._seeds = random.Random(entropy)  # noqa: S311 - seeds of games guard nothing
        self.state: State = State.IDLE
        self.episode: Episode | None = None
        self.discarded_reports = 0

    def description(self) -> messages.Describe | None:
        """Return the message that a new connection gets first; None before the first episode."""
        if self.episode is None or self.state.value is None:
            return None
        episode = self.episode
        env_id = episode.environment.env_id
        return self._describe(
            messages.Describe(
                env_id,
                self.state.value,
                episode.fps,
                picture=episode.picture,
                spaces=episode.spaces,
                clock=episode.environment.clock,
            )
        )

    def reset(
        self, environment: Environment, *, seed: int | None, fps: float | None, leaving: int, now: float
    ) -> list[Output]:
        """Leave episode ``leaving`` for another, as an agent asked (or the remote, for the first one)."""
        episode = self.episode
        joins = (
            self.state is State.RESETTING
            and episode is not None
            and episode.episode_id > leaving
            and seed is None
            and environment == episode.environment
        )
        if joins:
            return self._run(Event.JOIN, now)
        if seed is not None:
            # Makes the episodes after it reproducible, too.
            self._seeds = random.Random(seed)  # noqa: S311
        following = Episode(0, environment, self._draw_seed() if seed is None else seed, fps or environment.fps)
        return self._run(Event.RESET, now, ending=Ending("reset"), following=following)

    def report(self, report: reports.Report, now: float) -> list[Output]:
        """Process a report of the program. Reports of other episodes than the current one are counted and dropped."""
        episode = self.episode
        if episode is None or report.episode != episode.episode_id:
            self.discarded_reports += 1
            return []
        match report:
            case reports.Ready(fps=fps, picture=picture, spaces=spaces, info=info):
                if self.state is State.RESETTING:
                    episode.fps, episode.picture, episode.spaces = fps or episode.fps, picture, spaces
                return self._run(Event.READY, now, info=info)
            case reports.Reward(reward=reward) if not math.isfinite(episode.reward + reward):
                self.discarded_reports += 1
                return []
            case reports.Reward(at=at):
                self._note_frame(at)
                return self._run(Event.REWARD, now, earned=report)
            case reports.Done(terminated=terminated, truncated=truncated, reason=reason):
                # An end can't be refused, but what would make the sum infinite can.
                reward = report.reward if math.isfinite(episode.reward + report.reward) else 0.0
                ending = Ending(
                    reason or "done", terminated, truncated or not terminated, reward, report.at, report.info
                )
                return self._run(Event.DONE, now, ending=ending)
            case reports.Text(text=text):
                return self._show(messages.Text(text))
            case reports.Observation(observation=observation):
                return self._show(messages.Observation(observation))
            case reports.Readings() | reports.SlotFrames() | reports.Worlds() | reports.TreeRead() | reports.Lost():
                # The service's: most are shown to people alone.
                return []
            case reports.Frame(frames=frames, late_frames=late_frames, at=at):
                episode.frames, episode.late_frames = frames, late_frames
                self._note_frame(at)
                return []

    def time_limit(self, episode_id: int, now: float) -> list[Output]:
        """End episode ``episode_id`` at its time limit; do nothing if it has ended meanwhile."""
        if self.episode is None or self.episode.episode_id != episode_id or self.state is not State.RUNNING:
            return []
        return self._run(Event.TIME_LIMIT, now, ending=Ending(reports.TIME_LIMIT))

    def program_lost(self, reason: str, now: float) -> list[Output]:
        return self._run(Event.PROGRAM_LOST, now, ending=Ending(reason)) if self.episode else []

    def heartbeat(self, now: float) -> list[Output]:
        """Return a reward of zero if none was sent for HEARTBEAT_S."""
        episode = self.episode
        if self.state is not State.RUNNING or episode is None or episode.environment.sync:
            return []
        # Also send it if the clock was set back.
        if 0 <= now - episode.last_reward_at < HEARTBEAT_S:
            return []
        return [self._reward_message(0.0, now)]

    # ── the steps ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _run(
        self,
        event: Event,
        now: float,
        *,
        earned: reports.Reward | None = None,
        ending: Ending | None = None,
        following: Episode | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> list[Output]:
        after, steps = TRANSITIONS[self.state, event]
        outputs: list[Output] = []
        for step in steps:
            match step:
                case Step.SEND_REWARD:
                    assert earned is not None
                    outputs += self._earn(earned, now)
                case Step.END:
                    assert ending is not None
                    outputs += self._end(ending, now)
                case Step.BEGIN:
                    self.state = after
                    outputs += self._begin(following)
                case Step.RETRY:
                    self._current.early.clear()
                    outputs.append(self._begin_output())
                case Step.RUN:
                    self.state = after
                    outputs += self._start(now, info)
                case Step.DISCARD:
                    self.discarded_reports += 1
        self.state = after
        return outputs

    def _begin(self, following: Episode | None) -> list[Output]:
        """Begin the episode that was asked for, or another one of the same environment."""
        previous = self.episode
        if following is None:
            assert previous is not None
            following = Episode(0, previous.environment, self._draw_seed(), previous.fps, asked=False)
        self.episode = replace(following, episode_id=previous.episode_id + 1 if previous else 1)
        return [*self._describe_state(), self._begin_output()]

    def _begin_output(self) -> Begin:
        episode = self._current
        return Begin(episode.episode_id, episode.environment, episode.seed, episode.fps, episode.asked)

    def _start(self, now: float, info: Mapping[str, Any] | None) -> list[Output]:
        episode = self._current
        episode.started_at = episode.last_reward_at = now
        return [*self._describe_state(info), *(Send(early, episode.episode_id) for early in episode.early.values())]

    def _show(self, message: messages.Text | messages.Observation) -> list[Output]:
        if self.state is State.RUNNING:
            return [Send(message, self._current.episode_id)]
        # Nothing is sent of an episode before it is described as running.
        self._current.early[type(message)] = message
        return []

    def _earn(self, earned: reports.Reward, now: float) -> list[Output]:
        episode = self._current
        episode.reward += earned.reward
        # Each step of a Sync environment is answered, even one that earned nothing.
        if earned.reward == 0.0 and not earned.info and not episode.environment.sync:
            return []
        return [self._reward_message(earned.reward, now, said=earned.info)]

    def _end(self, ending: Ending, now: float) -> list[Output]:
        episode = self._current
        episode.reward += ending.reward
        self._note_frame(ending.at)
        last = self._reward_message(ending.reward, now, ending, said=ending.info)
        env_id, seconds = episode.environment.env_id, episode.seconds(now)
        finished = Finished(episode.episode_id, env_id, episode.reward, seconds, ending.terminated, ending.reason)
        return [last, finished]

    def _reward_message(
        self, reward: float, now: float, ending: Ending | None = None, *, said: Mapping[str, Any] | None = None
    ) -> Send:
        episode = self._current
        episode.last_reward_at = now
        info: dict[str, Any] = {
            **(said or {}),
            "rewarder.frames": episode.frames,
            "rewarder.late_frames": episode.late_frames,
        }
        if episode.frame_at is not None:
            info["rewarder.lag.observation.timestamp"] = episode.frame_at
        if ending is not None:
            info["reason"] = ending.reason
        message = messages.Reward(
            reward,
            done=ending is not None,
            info=info,
            terminated=ending is not None and ending.terminated,
            truncated=ending is not None and ending.truncated,
            frame_at=episode.frame_at,
        )
        return Send(message, episode.episode_id)

    def _describe_state(self, info: Mapping[str, Any] | None = None) -> list[Output]:
        description = self.description()
        assert description is not None
        # Not in later descriptions: it belongs to the first frame.
        described = structs.replace(description, info=dict(info)) if info else description
        return [Send(described, self._current.episode_id)]

    def _note_frame(self, at: float | None) -> None:
        if at is not None:
            self._current.frame_at = at

    def _draw_seed(self) -> int:
        return self._seeds.getrandbits(DRAWN_SEED_BITS)

    @property
    def _current(self) -> Episode:
        assert self.episode is not None
        return self.episode


def add_finite(a: float, b: float) -> float:
    """Return ``a + b``, clamped to the finite range that JSON can carry."""
    return min(max(a + b, -math.nextafter(math.inf, 0)), math.nextafter(math.inf, 0))
