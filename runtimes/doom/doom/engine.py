"""ViZDoom's engine, a process of its own with a visible window: a scenario, and tics of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import vizdoom
from numpy.typing import NDArray
from pluriverse_server.kit import Outcome

from .catalogue import OBSERVATION, Entry
from .controls import action

WIDTH: Final = 640
HEIGHT: Final = 480

# ViZDoom takes 32 bits.
SEEDS: Final = 2**32

# In free play: for what a level's own statistics count, and for reaching its exit.
KILL_REWARD: Final = 1.0
ITEM_REWARD: Final = 0.1
SECRET_REWARD: Final = 1.0
EXIT_REWARD: Final = 10.0

_DEATHS: Final = (
    vizdoom.ViZDoomErrorException,
    vizdoom.ViZDoomUnexpectedExitException,
    vizdoom.ViZDoomIsNotRunningException,
    vizdoom.SharedMemoryException,
    vizdoom.MessageQueueException,
)
_VARIABLES: Final = tuple(vizdoom.GameVariable.__members__[name] for name in OBSERVATION)


class EngineDied(Exception):
    """The engine has crashed, or wouldn't start; the message says what ViZDoom says of it."""


class Engine:
    """Plays one environment at a time. The window covers a screen of 640x480; its input is never looked at.

    The engine runs in lockstep with ``step``, as fast as it can, so that an episode begins without waiting for the
    weapon to be raised, and the same seed and keys give the same episode.
    """

    def __init__(self) -> None:
        self._game: vizdoom.DoomGame | None = None
        self._entry: Entry | None = None
        self._hidden = False
        self._picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)

    def begin(self, entry: Entry, seed: int, *, hidden: bool = False) -> None:
        """Show the first tic of an episode. Another scenario than the last one starts the engine anew.

        ``hidden``: without a window, which the tics of lockstep would wait for; then there is a ``picture``.

        Raises:
            EngineDied: it wouldn't start.
        """
        try:
            game = self._game_of(entry, hidden)
            game.set_doom_map(entry.map)
            game.set_seed(seed % SEEDS)
            game.new_episode()
        except _DEATHS as error:
            raise EngineDied(f"ViZDoom's engine did not begin {entry.id}: {error}") from error
        self._entry = entry

    def step(self, held: frozenset[int]) -> Outcome:
        """One tic with these keysyms held; it is on the screen when this returns.

        Raises:
            EngineDied: it has crashed.
        """
        assert self._game is not None
        assert self._entry is not None
        game = self._game
        try:
            reward = game.make_action(action(self._entry.buttons, held))
            if not game.is_episode_finished():
                return Outcome(reward)
            if game.is_player_dead():
                return Outcome(reward, terminated=True, reason="died")
            if game.is_episode_timeout_reached():
                return Outcome(reward, truncated=True, reason="time limit of the scenario")
            return Outcome(reward, terminated=True, reason="level exit" if self._entry.free_play else "scenario over")
        except _DEATHS as error:
            raise EngineDied(f"ViZDoom's engine has crashed: {error}") from error

    def picture(self) -> NDArray[np.uint8]:
        """The last tic of a hidden engine, uint8 (480, 640, 3), RGB; after an episode's end the one before that."""
        assert self._game is not None
        # None once an episode is over, which its stub leaves out.
        state: Any = self._game.get_state()
        if state is not None:
            self._picture = cast("NDArray[np.uint8]", state.screen_buffer)
        return self._picture

    def observation(self) -> list[float]:
        assert self._game is not None
        return [self._game.get_game_variable(variable) for variable in _VARIABLES]

    def close(self) -> None:
        game, self._game = self._game, None
        if game is not None:
            game.close()

    def _game_of(self, entry: Entry, hidden: bool) -> vizdoom.DoomGame:
        same = self._entry is not None and self._entry.config == entry.config and self._hidden == hidden
        if self._game is not None and same:
            return self._game
        self.close()
        game = vizdoom.DoomGame()
        game.load_config(str(Path(vizdoom.scenarios_path) / f"{entry.config}.cfg"))
        # Its stub leaves open what the list is of.
        cast("Any", game).set_available_buttons([vizdoom.Button.__members__[button] for button in entry.buttons])
        game.set_mode(vizdoom.Mode.PLAYER)
        game.set_screen_resolution(vizdoom.ScreenResolution.RES_640X480)
        # Of an engine with a window nobody reads the buffers.
        game.set_screen_format(vizdoom.ScreenFormat.RGB24 if hidden else vizdoom.ScreenFormat.GRAY8)
        game.set_automap_buffer_enabled(False)
        game.set_audio_buffer_enabled(False)
        game.set_sound_enabled(False)
        game.set_window_visible(not hidden)
        game.set_doom_map(entry.map)
        game.set_doom_config_path(str(Path.cwd() / "engine.ini"))
        if entry.free_play:
            game.set_kill_reward(KILL_REWARD)
            game.set_item_reward(ITEM_REWARD)
            game.set_secret_reward(SECRET_REWARD)
            game.set_map_exit_reward(EXIT_REWARD)
        game.init()
        self._game, self._hidden = game, hidden
        return game
