"""Plays the environments that the daemon asks for."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from pluriverse_protocol.reports import Reset
from pluriverse_server import kit

from . import catalogue
from .catalogue import Atari, Entry, Gymnasium
from .environment import Environment
from .episode import Episode
from .screen import Screen

if TYPE_CHECKING:
    from .emulators import Emulators


class UnknownEnvironment(Exception):
    """The catalogue has no environment of this id."""


class Environments:
    """The catalogue, the environment in use, and the emulators. Each library is imported when it's first needed."""

    def __init__(self) -> None:
        self._entries = {entry.id: entry for entry in catalogue.entries()}
        self._current: tuple[Atari | Gymnasium, Environment] | None = None
        self._emulators: Emulators | None = None

    def entry(self, env_id: str) -> Entry:
        """Return the catalogue's entry of an id; raise UnknownEnvironment if there is none."""
        try:
            return self._entries[env_id]
        except KeyError:
            raise UnknownEnvironment(
                f"there is no environment {env_id!r} in this runtime; python catalogue.py lists those there are"
            ) from None

    def environment(self, entry: Entry) -> Environment:
        """The environment to reset and play; the one that was made before it is closed."""
        if self._current is not None:
            game, environment = self._current
            if game == entry.game:
                return environment
            environment.close()
        environment = self._make(entry.game)
        self._current = (entry.game, environment)
        return environment

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
        """Open the window; raise NoDisplay if there is no X server that can be drawn on."""
        self._screen = Screen()
        super().__init__(reporter, self._screen.window, self._screen.block)
        self._environments = Environments()
        self._episode: Episode | None = None
        # The agent waits for a clock later than this one (UNIX seconds).
        self._awaited: float | None = None

    def idle_s(self) -> float | None:
        """Return the seconds until the next frame, or until the clock that an agent waits for."""
        if self._episode is None:
            return None
        idle = self._episode.next_due - time.monotonic()
        return idle if self._awaited is None else min(idle, _next_millisecond(self._awaited) - time.time())

    def reset(self, request: Reset) -> None:
        """Begin an episode; raise UnknownEnvironment if the catalogue hasn't the one that was asked for."""
        entry = self._environments.entry(request.env)
        environment = self._environments.environment(entry)
        self._awaited = None
        self._episode = Episode(request, environment, self._screen, self.latch, self.reporter, sync=entry.sync)
        self.drop_keys()
        self._episode.begin()

    def press(self, keysym: int) -> None:
        """Step an environment in which the key is one."""
        if self._episode is not None:
            self._episode.press(keysym)

    def delivered(self, sent_at: float) -> None:
        """Note that the agent waits for a later clock."""
        self._awaited = sent_at

    def attend(self) -> None:
        """Paint what is due."""
        if self._awaited is not None and time.time() >= _next_millisecond(self._awaited):
            self._screen.stamp()
            self._awaited = None
        if self._episode is not None:
            self._episode.tick(time.monotonic())


def _next_millisecond(clock: float) -> float:
    """Return when the painted clock, in whole milliseconds, is later than ``clock``."""
    return (math.floor(clock * 1000) + 1) / 1000
