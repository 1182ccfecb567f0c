"""Gymnasium's and minigrid's environments; importing this imports Gymnasium."""

from __future__ import annotations

import io
import os
import pickle
from typing import Any, Final, cast

# Before pygame is imported: it greets on standard output, and pictures are drawn into memory only.
os.environ.update(PYGAME_HIDE_SUPPORT_PROMPT="1", SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from pluriverse_server.kit import Kept, Outcome

from . import catalogue
from .controls import Held, Turns, controls_of
from .environment import Environment

# Larger pictures are halved, or more: this leaves the metadata block plain ground around it.
MAX_WIDTH: Final = 896
MAX_HEIGHT: Final = 700


class GymnasiumEnvironment(Environment):
    """One environment of Gymnasium's registry, with its own time limit."""

    def __init__(self, game: catalogue.Gymnasium) -> None:
        self._game = game
        self._has_mission = game.has_mission
        if self._has_mission:
            import minigrid  # noqa: F401  # pyright: ignore[reportUnusedImport, reportMissingTypeStubs]
        # Old versions are offered on purpose; Gymnasium warns about each.
        gymnasium.logger.min_level = gymnasium.logger.ERROR
        self._low_dimensional = game.low_dimensional
        self._controls = controls_of(game.id)
        self._env: gymnasium.Env[Any, Any] = gymnasium.make(game.id, render_mode="rgb_array", disable_env_checker=True)
        self.turn_keys = frozenset(self._controls.actions) if isinstance(self._controls, Turns) else None

    def reset(self, seed: int) -> None:
        self._observation: Any
        self._observation, _ = self._env.reset(seed=seed)
        self._rendered: NDArray[np.uint8] | None = None

    def step(self, keys: frozenset[int]) -> Outcome:
        """One step with the action of the keys; of one key where it is turn-based."""
        self._observation, reward, terminated, truncated, _ = self._env.step(self._action(keys))
        self._rendered = None
        reason = "game over" if terminated else "time limit" if truncated else ""
        return Outcome(float(reward), bool(terminated), bool(truncated), reason)

    def frame(self) -> NDArray[np.uint8]:
        """The picture as it is drawn, shape (height, width, 3), RGB; rendered when it is first asked for."""
        if self._rendered is None:
            self._rendered = self._render()
        return self._rendered

    def draw(self, picture: NDArray[np.uint8], top: int, bottom: int) -> None:
        rgb = self.frame()
        # Three plain copies are five times as fast as one through a reversed index.
        for channel in range(3):
            picture[top:bottom, :, 2 - channel] = rgb[top:bottom, :, channel]

    def rgb(self) -> NDArray[np.uint8]:
        return self.frame()

    def observation(self) -> list[float] | None:
        """The observation's numbers where the environment is one that reports them."""
        return [float(value) for value in self._observation] if self._low_dimensional else None

    def save(self) -> Kept | None:
        """All of the environment but what it draws with; None of what pickles as it was made: Box2D's."""
        stream = io.BytesIO()
        pickler = _Pickler(stream)
        try:
            pickler.dump((self._env, self._observation))
        except (pickle.PicklingError, TypeError, AttributeError):
            return None
        return Kept((self._game, stream.getvalue(), pickler.shared), stream.tell())

    def load(self, kept: Kept) -> None:
        game, pickled, shared = kept.state
        if game != self._game:
            raise ValueError(f"the snapshot is of {game.id}")
        unpickler = _Unpickler(io.BytesIO(pickled))
        unpickler.shared = shared
        self._env, self._observation = unpickler.load()
        self._rendered = None

    def text(self) -> str:
        return str(self._observation["mission"]) if self._has_mission else ""

    def close(self) -> None:
        self._env.close()

    def _action(self, keys: frozenset[int]) -> Any:
        match self._controls:
            case Held(action):
                value = action(keys)
                return np.array(value, np.float32) if isinstance(value, tuple) else value
            case Turns(actions):
                (key,) = keys
                return actions[key][0]

    def _render(self) -> NDArray[np.uint8]:
        return fitted(cast("NDArray[np.uint8]", self._env.render()))


class _Pickler(pickle.Pickler):
    """Leaves pygame's surfaces, clocks and fonts out: an environment draws on them anew."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.shared: list[object] = []

    def persistent_id(self, obj: object) -> int | None:
        if isinstance(obj, EzPickle):
            raise pickle.PicklingError("it would be made anew")
        if type(obj).__module__.partition(".")[0] != "pygame":
            return None
        self.shared.append(obj)
        return len(self.shared) - 1


class _Unpickler(pickle.Unpickler):
    """Puts back what ``_Pickler`` has left out."""

    shared: list[object]

    def persistent_load(self, pid: int) -> object:
        return self.shared[pid]


def fitted(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture if it fits, else each square of so many pixels as their mean; shape (height, width, 3)."""
    height, width, _ = rgb.shape
    factor = max(-(-width // MAX_WIDTH), -(-height // MAX_HEIGHT))
    if factor == 1:
        return rgb
    rgb = rgb[: height // factor * factor, : width // factor * factor]
    squares = rgb.reshape(height // factor, factor, width // factor, factor, 3)
    return squares.mean(axis=(1, 3)).astype(np.uint8)
