"""Plays the environments that the daemon asks for."""

from __future__ import annotations

import math
import time

from pluriverse_protocol.reports import Reset
from pluriverse_server import kit

from .environments import Environments
from .episode import Episode
from .screen import Screen


class Program(kit.Program):
    """The loop around the environments, on a screen of its own."""

    def __init__(self, reporter: kit.Reporter) -> None:
        """Open the window.

        Raises:
            NoDisplay: there is no X server that can be drawn on.
        """
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
