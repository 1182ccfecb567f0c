"""Plays the environments that the daemon asks for."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from pluriverse_protocol.env_spaces import Spaces, parse
from pluriverse_protocol.reports import Reset
from pluriverse_server import kit

from . import catalogue
from .catalogue import Atari, Entry, Gymnasium
from .environment import Environment
from .episode import Episode
from .lockstep import LockstepEpisode
from .screen import Screen

if TYPE_CHECKING:
    from .emulators import Emulators

# A screen that is scraped 250 times a second tells the two clocks that an agent waits for apart.
_ANOTHER_S: Final = 0.01


class UnknownEnvironment(Exception):
    """The catalogue has no environment of this id."""


class Games:
    """The game of one slot, kept as long as it is played again; each library is imported when it's first needed."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._environment: Environment | None = None
        self._game: Atari | Gymnasium | None = None
        self._emulators: Emulators | None = None

    def entry(self, request: Reset) -> tuple[Entry, Spaces | None]:
        """Return what is asked for, and its spaces where they aren't those declared.

        Raises:
            UnknownEnvironment: the catalogue hasn't it.
        """
        declared = self._entries.get(request.env)
        if declared is None:
            raise UnknownEnvironment(
                f"there is no environment {request.env!r} in this runtime; python catalogue.py lists those there are"
            )
        entry = declared.with_options(request.options)
        return entry, parse(entry.spaces) if entry.spaces != declared.spaces else None

    def environment(self, game: Atari | Gymnasium) -> Environment:
        """Return the environment to reset and play, made anew if the game is another than before."""
        if self._environment is None or game != self._game:
            if self._environment is not None:
                self._environment.close()
            self._environment, self._game = self._make(game), game
        return self._environment

    def _make(self, game: Atari | Gymnasium) -> Environment:
        if isinstance(game, Atari):
            from .atari import AtariEnvironment
            from .emulators import Emulators

            self._emulators = self._emulators or Emulators()
            return AtariEnvironment(game, self._emulators)
        from .gymnasium_env import GymnasiumEnvironment

        return GymnasiumEnvironment(game)


class Program(kit.Program):
    """The loop around the environments, on a screen of its own."""

    def __init__(self, reporter: kit.Reporter) -> None:
        self._screen = Screen()
        super().__init__(reporter, self._screen.window, self._screen.block, self._begin_in_slot)
        entries = {entry.id: entry for entry in catalogue.entries()}
        self._games = defaultdict[int, Games](partial(Games, entries))
        self._episode: Episode | LockstepEpisode | None = None
        # When the agent waits for a clock to be painted, UNIX seconds.
        self._awaited: list[float] = []

    def idle_s(self) -> float | None:
        episode = self._episode
        if episode is None:
            return None
        stepped = isinstance(episode, LockstepEpisode)
        due = episode.due(watched=self.lockstep.watched) if stepped else episode.next_due
        if due is None:
            return None
        idle = due - time.monotonic()
        return min(idle, self._awaited[0] - time.time()) if self._awaited else idle

    def reset(self, request: Reset) -> None:
        entry, spaces = self._games[0].entry(request)
        environment = self._games[0].environment(entry.game)
        self._awaited = []
        if request.clock == "lockstep":
            episode = self._episode = LockstepEpisode(request, environment, self.reporter, self._screen, spaces)
            episode.begin()
            self.lockstep.begin(episode)
            return
        self.lockstep.begin(None)
        self._episode = Episode(
            request, environment, self._screen, self.latch, self.reporter, sync=entry.sync, spaces=spaces
        )
        self.drop_keys()
        self._episode.begin()

    def press(self, keysym: int) -> None:
        if isinstance(self._episode, Episode):
            self._episode.press(keysym)

    def delivered(self, sent_at: float) -> None:
        """Note that the agent waits for a later clock, and, where that came without the picture, for another."""
        later = _next_millisecond(sent_at)
        self._awaited = [later, later + _ANOTHER_S]

    def attend(self) -> None:
        if self._awaited and time.time() >= self._awaited[0]:
            self._screen.stamp()
            del self._awaited[0]
        if isinstance(self._episode, Episode):
            self._episode.tick(time.monotonic())
        elif self._episode is not None:
            self._episode.attend(time.monotonic(), watched=self.lockstep.watched)

    def _begin_in_slot(self, slot: int, request: Reset) -> LockstepEpisode:
        games = self._games[slot]
        entry, spaces = games.entry(request)
        return LockstepEpisode(request, games.environment(entry.game), spaces=spaces)


def _next_millisecond(clock: float) -> float:
    """Return when the painted clock, in whole milliseconds, is later than ``clock``."""
    return (math.floor(clock * 1000) + 1) / 1000
