"""Environments in real time: they never stop, and a step is answered by the next frame that the agent hasn't seen.

``Player`` is one of them between two calls of its agent, and pure; ``RealTime`` hands it each look at its remote.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import Describe

from pluriverse.env.vector import VectorEnv
from pluriverse.errors import ConfigurationError, RemoteFailed, RemoteUnavailable
from pluriverse.rewarder.result import Result
from pluriverse.rewarder.sound_connection import SoundConnection
from pluriverse.vnc import VncConnection, VncOptions, wait_for_frames

from .backend import Answers, Phase
from .pictures import PictureOptions, Pictures, Pixels

# A screen shows something within seconds, or a minute on a slow machine.
SCREEN_S: Final = 120.0

# A remote that paints its clock shows a new one with each frame; one whose clock stands for so long has stalled, and
# the agent is given what there is.
STALL_S: Final = 0.5

# How often to look at an environment that has not answered in time, or begins an episode, even if nothing came of it.
LOOK_S: Final = 0.05


class Player:
    """The state of one environment. Times are seconds of any steady clock, passed in."""

    def __init__(self, blank: Pixels, *, fps: float, frame_skip: int = 1, max_episode_steps: int | None = None) -> None:
        """``blank`` stands for a screen that was never seen. A step lasts ``frame_skip`` frames at ``fps``."""
        self.phase: Phase = Phase.NEW
        self.due_at: float = 0.0
        """When to look at the environment even if nothing came."""
        # When the step is over if it hasn't been answered by then.
        self._over_at = 0.0
        self._step_s = frame_skip / fps
        # A frame is a little early or late by half a frame at most; what comes later than that is not made up for.
        self._slack_s = 0.5 / fps
        self._max_episode_steps = max_episode_steps
        self.result: Result = Result(vision=blank)
        """The last answer."""
        # What has come since the last call.
        self._come = self.result
        # The painted clock of the last picture; when the step is due by that clock, and by ours.
        self._clock: float | None = None
        self._due_painted_at = 0.0
        self._due_here_at = 0.0
        # A reward that came with an episode's first frame belongs to its first step.
        self._carried = 0.0
        self._remote_ended = False

    @property
    def remote_ended_episode(self) -> bool:
        """Whether the remote ended the last episode itself, and so has begun the next."""
        return self.phase is Phase.ENDED and self._remote_ended

    def reset(self) -> None:
        """Begin to wait for another episode."""
        self.phase = Phase.RESETTING
        self._come = Result(self.result.vision)
        self._clock = None
        self._carried = 0.0
        self.due_at = self._over_at = 0.0

    def act(self, now: float) -> None:
        """Begin to wait for the answer to an action."""
        self.phase = Phase.STEPPING
        self._come = self.result.following(self._carried)
        self._carried = 0.0
        self._over_at = self._due_here_at if self._clock is None else max(now, self._due_here_at) + STALL_S
        self.due_at = self._over_at

    def take(self, look: Result, now: float) -> Result | None:
        """Take in what a look at the environment brought; return the answer once it is complete."""
        self._come = self._come.merged(look)
        answer = self._take_first(look, now) if self.phase is Phase.RESETTING else self._take(look, now)
        if answer is None:
            self.due_at = self._over_at if now < self._over_at else now + LOOK_S
        else:
            self.result = answer
        return answer

    def _take_first(self, look: Result, now: float) -> Result | None:
        # Rewards of an episode that ended before the agent saw it are dropped; the next begins by itself.
        self._carried = 0.0 if look.done else self._carried + look.reward
        if look.masked_observation:
            return None
        self._clock = look.image_remote_time
        self._due_painted_at = (self._clock or 0.0) + self._step_s
        self._due_here_at = now + self._step_s
        self.phase = Phase.READY
        vision = self._come.vision if look.vision is None else look.vision
        of_this = {"vision": vision, "texts": look.texts, "observation": look.observation}
        return self._come._replace(
            **of_this, reward=0.0, done=False, terminated=False, truncated=False, first=True, elapsed=0
        )

    def _take(self, look: Result, now: float) -> Result | None:
        if look.done:
            self.phase = Phase.ENDED
            self._remote_ended = look.error is None
            return self._come._replace(truncated=look.truncated or not look.terminated)
        if look.masked_observation or not self._is_over(look, now):
            return None
        self._due_here_at = self._next_due(self._due_here_at, now)
        if look.image_remote_time is not None:
            self._due_painted_at = self._next_due(self._due_painted_at, look.image_remote_time)
            self._clock = look.image_remote_time
        self.phase = Phase.READY
        if self._come.elapsed == self._max_episode_steps:
            self.phase = Phase.ENDED
            self._remote_ended = False
            return self._come._replace(truncated=True)
        return self._come

    def _is_over(self, look: Result, now: float) -> bool:
        painted_at = look.image_remote_time
        if painted_at is None or self._clock is None:
            # Updates of the screen aren't frames: a VNC server may split a frame into several.
            self._over_at = self._due_here_at
        elif painted_at > self._clock and painted_at >= self._due_painted_at - self._slack_s:
            return True
        return now >= self._over_at

    def _next_due(self, due: float, at: float) -> float:
        """Return when the next step is due after one that was due at ``due`` and over at ``at``, on either clock.

        That is a step later, however late the agent was by less than half a frame, so that the rate is exact.
        """
        return min(max(due, at - self._slack_s), at + self._slack_s) + self._step_s


class RealTime:
    """A ``Backend``: each environment has a player, to whom each look at it is handed."""

    def __init__(
        self,
        env: VectorEnv,
        described: Describe,
        answers: Answers,
        options: PictureOptions,
        *,
        vnc: VncOptions,
        whole_screens: bool,
        audio: bool,
        frame_skip: int,
        max_episode_steps: int | None,
    ) -> None:
        """Open the screens; blocks."""
        if described.spaces is not None and described.spaces.step is not None:
            raise ConfigurationError(
                f"{described.env_id} waits for the agent; make it with clock='lockstep', or play it with "
                "pluriverse.wrappers.GymCoreSync"
            )
        width, height = described.size
        self.pictures: Pictures = Pictures(options, described.box, ready=not whole_screens)
        env.open_screens(vnc if whole_screens else self.pictures.asked_of(vnc))
        blank = np.zeros((height, width, 3) if whole_screens else self.pictures.shape, np.uint8)
        self._env = env
        self._answers = answers
        self._viewers: dict[int, VncConnection] = {}
        self._sounds: list[SoundConnection | None] = [None] * env.n if audio else []
        self.games: list[Player] = [
            Player(blank, fps=described.fps, frame_skip=frame_skip, max_episode_steps=max_episode_steps)
            for _ in range(env.n)
        ]

    @property
    def exact(self) -> bool:
        return False

    def screen(self, index: int) -> Pixels:
        """Return the last answer's if it has whole screens, else that of now."""
        if not self.pictures.ready:
            return self.games[index].result.picture
        viewer = self._viewers.get(index)
        if viewer is None or viewer.error is not None:
            if viewer is not None:
                viewer.close()
            viewer = self._viewers[index] = self._env.open_viewer(index)
        if viewer.frame() is None:
            wait_for_frames([viewer], SCREEN_S)
        frame = viewer.frame()
        if frame is None:
            raise RemoteFailed(f"the screen of environment {index} shows nothing: {viewer.error}")
        return frame.array

    def begin(self, index: int, seed: int | None, *, join: bool) -> None:
        player = self.games[index]
        self._env.release(index)
        if not (join and player.remote_ended_episode):
            self._env.reset_one(index, seed=seed)
        player.reset()

    def expect(self, index: int, seed: int) -> None:
        del seed
        self.games[index].reset()

    def act(self, events: Mapping[int, Sequence[Event]]) -> None:
        now = time.monotonic()
        for index, each in events.items():
            self.games[index].act(now)
            self._env.act(index, each)

    def look(self, timeout_s: float) -> None:
        answers, games = self._answers, self.games
        waiting = list(answers.waiting)
        due_at = min([games[index].due_at for index in waiting])
        changed = self._env.changed(waiting, max(0.0, min(timeout_s, due_at - time.monotonic())))
        now = time.monotonic()
        due = [index for index in waiting if index in changed or games[index].due_at <= now]
        if not due:
            return
        try:
            looks = self._env.poll(due)
            now = time.monotonic()
            for index, look in looks.items():
                player = games[index]
                if player.take(look, now) is not None:
                    if self._sounds:
                        player.result = player.result._replace(sound=self._heard(index))
                    del answers.waiting[index]
                    answers.ready.append(index)
                elif player.phase is Phase.RESETTING:
                    self._env.require_usable(index)
        except BaseException as error:
            answers.whole.note(error)
            raise

    def _heard(self, index: int) -> NDArray[np.int16] | None:
        """Return what was played since the last answer; None while the remote is away."""
        connection = self._sounds[index]
        if connection is None or connection.closed:
            try:
                connection = self._sounds[index] = self._env.open_sound(index)
            except RemoteUnavailable:
                return None
        return connection.take()

    def forget(self) -> None:
        for player in self.games:
            player.phase = Phase.NEW

    def close(self) -> None:
        for each in (*self._viewers.values(), *filter(None, self._sounds)):
            each.close()
