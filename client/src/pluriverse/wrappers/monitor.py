"""Wrappers for people: shows pictures, and keeps statistics and films of episodes."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO, cast

from pluriverse.env.base import Env, Step, Wrapper
from pluriverse.errors import ConfigurationError

from .video import SUFFIX, VideoError, VideoWriter

log: Final = logging.getLogger(__name__)

STATISTICS: Final = "episodes.jsonl"

# From this episode on, one in so many is filmed; before, episodes 0, 1, 8, 27, …
FILM_EVERY: Final = 1000


@dataclass(slots=True)
class _Running:
    number: int
    began: float
    reward: float = 0.0
    length: int = 0


def cubes(episode: int) -> bool:
    """Return whether to film an episode: ever less often."""
    return round(episode ** (1 / 3)) ** 3 == episode if episode < FILM_EVERY else episode % FILM_EVERY == 0


class Monitor(Wrapper):
    """Writes a line of JSON to ``episodes.jsonl`` in ``directory`` for each episode, and films some of index 0.

    A line has the episode's ``index``, number (``episode``), ``episode_id``, ``reward``, ``length`` in steps and
    ``seconds``, whether it was ``terminated`` or ``truncated``, the UNIX time ``ended_at``, and ``error`` or null.
    ``films(number)`` returns whether to film an episode, with the extra video; None films none. A film ends where the
    picture's size changes.
    """

    def __init__(self, env: Env, directory: Path | str, *, films: Callable[[int], bool] | None = cubes) -> None:
        super().__init__(env)
        self._directory = Path(directory)
        self._films = films
        self._running: list[_Running] = []
        self._file: TextIO | None = None
        self._video: VideoWriter | None = None
        self._size: tuple[int, ...] = ()
        self._filmed: int | None = None

    def reset(self) -> Any:
        """See ``Env.reset``; the episodes under way aren't written down."""
        observation_n = self.env.reset()
        if self._file is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._file = (self._directory / STATISTICS).open("a", buffering=1, encoding="utf-8")
        self._end_film()
        numbers = [running.number + 1 for running in self._running] or [0] * self.n
        self._running = [_Running(number, time.monotonic()) for number in numbers]
        return observation_n

    def step(self, action_n: Any) -> Step:
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        for index, running in enumerate(self._running):
            running.reward += reward_n[index]
            running.length += 1
            if done_n[index]:
                self._write(index, running, info["n"][index])
                self._running[index] = _Running(running.number + 1, time.monotonic())
                if index == 0:
                    self._end_film()
        if observation_n and observation_n[0] is not None:
            self._film(observation_n[0])
        return observation_n, reward_n, done_n, info

    def close(self) -> None:
        self._end_film()
        if self._file is not None:
            self._file.close()
            self._file = None
        super().close()

    def _write(self, index: int, running: _Running, info: dict[str, Any]) -> None:
        assert self._file is not None
        statistics = {
            "index": index,
            "episode": running.number,
            "episode_id": info.get("env_status.complete.episode_id"),
            "reward": running.reward,
            "length": running.length,
            "seconds": time.monotonic() - running.began,
            "terminated": bool(info.get("terminated")),
            "truncated": bool(info.get("truncated")),
            "ended_at": time.time(),
            "error": info.get("error"),
        }
        self._file.write(json.dumps(statistics) + "\n")

    def _film(self, observation: Any) -> None:
        # Around a Vision wrapper an observation is the picture.
        picture: Any = cast("dict[str, Any]", observation)["vision"] if isinstance(observation, dict) else observation
        number = self._running[0].number
        if picture is None or self._films is None or self._filmed == number or not self._films(number):
            return
        try:
            if self._video is None:
                fps = self.env.unwrapped.metadata["video.frames_per_second"]
                height, width = picture.shape[:2]
                self._video = VideoWriter(self._directory / f"episode-{number:06d}{SUFFIX}", width, height, fps)
                self._size = picture.shape
            if picture.shape == self._size:
                self._video.write(picture)
            else:
                self._end_film()
                self._filmed = number
        except (ConfigurationError, VideoError) as error:
            log.warning("episode %d can't be filmed: %s", number, error)
            self._video = None
            self._filmed = number

    def _end_film(self) -> None:
        video, self._video = self._video, None
        if video is not None:
            try:
                video.close()
            except VideoError as error:
                log.warning("%s", error)


class Render(Wrapper):
    """Shows each new picture of index 0 in a window."""

    def step(self, action_n: Any) -> Step:
        result = self.env.step(action_n)
        self.env.render()
        return result
