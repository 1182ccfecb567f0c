"""Environments in real time: they never stop, and a step is answered by the next frame that the agent hasn't seen."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import Describe

from pluriverse.env.vector import VectorEnv
from pluriverse.errors import ConfigurationError, RemoteFailed
from pluriverse.rewarder.result import Result
from pluriverse.vnc import VncConnection, VncOptions, wait_for_frames

from .backend import Answers, Phase
from .pictures import PictureOptions, Pictures, Pixels
from .player import Player

# A screen shows something within seconds, or a minute on a slow machine.
SCREEN_S: Final = 120.0


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
        frame_skip: int,
        max_episode_steps: int | None,
    ) -> None:
        """Open the screens; blocks."""
        if described.spaces is not None and described.spaces.step is not None:
            raise ConfigurationError(
                f"{described.env_id} waits for its agent; make it with clock='lockstep', or play it with "
                "pluriverse.wrappers.GymCoreSync"
            )
        width, height = described.size
        self.pictures: Pictures = Pictures(options, described.box, ready=not whole_screens)
        env.open_screens(vnc if whole_screens else self.pictures.asked_of(vnc))
        blank = np.zeros((height, width, 3) if whole_screens else self.pictures.shape, np.uint8)
        self._env = env
        self._answers = answers
        self._viewers: dict[int, VncConnection] = {}
        self._players = [
            Player(blank, fps=described.fps, frame_skip=frame_skip, max_episode_steps=max_episode_steps)
            for _ in range(env.n)
        ]

    @property
    def n(self) -> int:
        return self._env.n

    @property
    def exact(self) -> bool:
        return False

    def phase(self, index: int) -> Phase:
        return self._players[index].phase

    def result(self, index: int) -> Result:
        return self._players[index].result

    def screen(self, index: int) -> Pixels:
        """Return the last answer's if it has whole screens, else that of now."""
        if not self.pictures.ready:
            return self.result(index).picture
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
        player = self._players[index]
        self._env.release(index)
        if not (join and player.remote_ended_episode):
            self._env.reset_one(index, seed=seed)
        player.reset()

    def act(self, events: Mapping[int, Sequence[Event]]) -> None:
        now = time.monotonic()
        for index, each in events.items():
            self._players[index].act(now)
            self._env.act(index, each)

    def look(self, timeout_s: float) -> None:
        waiting = list(self._answers.waiting)
        due_at = min([self._players[index].due_at for index in waiting])
        changed = set(self._env.changed(waiting, max(0.0, min(timeout_s, due_at - time.monotonic()))))
        now = time.monotonic()
        due = [index for index in waiting if index in changed or self._players[index].due_at <= now]
        if not due:
            return
        with self._answers.whole:
            looks = self._env.poll(due)
            now = time.monotonic()
            for index, look in looks.items():
                player = self._players[index]
                if player.take(look, now) is not None:
                    self._answers.came(index)
                elif player.phase is Phase.RESETTING:
                    self._env.require_wellbehaved(index)

    def forget(self) -> None:
        for player in self._players:
            player.phase = Phase.NEW

    def close(self) -> None:
        for viewer in self._viewers.values():
            viewer.close()
