"""Pong by an OpenEnv server whose pictures are lists of integers, as OpenEnv's own Atari environment sends them.

Its argument is the port.
"""

from __future__ import annotations

import sys
from typing import Any

import ale_py
import gymnasium
import uvicorn
from openenv.core.env_server import (  # pyright: ignore[reportMissingTypeStubs]
    Environment,
    create_fastapi_app,  # pyright: ignore[reportUnknownVariableType]
)
from openenv.core.env_server.types import Action, Observation, State  # pyright: ignore[reportMissingTypeStubs]


class Turn(Action):
    """One of the game's actions."""

    action: int


class Picture(Observation):
    """The screen, pixel after pixel."""

    screen: list[int]
    shape: list[int]


class Pong(Environment[Turn, Picture, State]):
    """A game of this process."""

    def __init__(self) -> None:
        super().__init__()
        self._env: Any = gymnasium.make("PongNoFrameskip-v4")

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Picture:
        """Begin an episode."""
        del episode_id, kwargs
        screen, _ = self._env.reset(seed=seed)
        return Picture(screen=screen.flatten().tolist(), shape=list(screen.shape))

    def step(self, action: Turn, timeout_s: float | None = None, **kwargs: Any) -> Picture:
        """Act for a frame."""
        del timeout_s, kwargs
        screen, reward, terminated, truncated, _ = self._env.step(action.action)
        over = terminated or truncated
        return Picture(screen=screen.flatten().tolist(), shape=list(screen.shape), reward=float(reward), done=over)

    @property
    def state(self) -> State:
        """Say how the episode stands."""
        return State()


if __name__ == "__main__":
    gymnasium.register_envs(ale_py)
    port = int(sys.argv[1])
    app: Any = create_fastapi_app(Pong, Turn, Picture)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
