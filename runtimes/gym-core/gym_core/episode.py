"""One episode: steps its environment, draws its frames and reports."""

from __future__ import annotations

import time
from typing import Any

from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.reports import Frame, Observation, Ready, Report, Reset, Text
from pluriverse_server.kit import KeyLatch, Pacer, Reporter

from .controls import STEP_KEY
from .environment import Environment
from .screen import Screen


class Episode:
    """An episode that runs from its first frame on, in one of three ways.

    Real time: a step at each frame, with the keys that count as held in it. Sync: a step at each press of ``c``, with
    the keys held at that moment. Turn-based: a step at each press of one of the environment's keys. In the latter two
    frames only paint the clock; so they do in all three once the episode is over.
    """

    def __init__(
        self,
        request: Reset,
        environment: Environment,
        screen: Screen,
        latch: KeyLatch,
        reporter: Reporter,
        *,
        sync: bool,
        spaces: Spaces | None = None,
    ) -> None:
        """Show the first frame; ``begin`` has yet to report it, with ``spaces`` where they aren't those declared."""
        self._episode = request.episode
        self._fps = request.fps
        self._environment = environment
        self._screen = screen
        self._latch = latch
        self._reporter = reporter
        self._sync = sync
        self._spaces = spaces
        self._step_keys = frozenset({STEP_KEY}) if sync else environment.turn_keys
        self._over = False
        self._lives: int | None = None
        environment.reset(request.seed)
        screen.fit(*environment.size)
        screen.show(environment)
        screen.window.sync()

    def begin(self) -> None:
        self._latch.forget_presses()
        self._pacer = Pacer(self._fps, time.monotonic() + 1 / self._fps)
        picture = (0, 0, *self._environment.size)
        reports: list[Report] = [
            Ready(self._episode, self._fps, picture=picture, spaces=self._spaces, info=self._change_of_lives() or None)
        ]
        text = self._environment.text()
        if text:
            reports.append(Text(self._episode, text))
        self._reporter.report(*reports, *self._observation())

    @property
    def next_due(self) -> float:
        """When ``tick`` is to be called next, on the monotonic clock."""
        return self._pacer.next_due

    def press(self, keysym: int) -> None:
        """A key went down; the latch knows it already."""
        if self._over or self._step_keys is None or keysym not in self._step_keys:
            return
        self._step(self._latch.held - self._step_keys if self._sync else frozenset({keysym}))

    def tick(self, now: float) -> None:
        """Draw a frame if one is due at ``now``, on the monotonic clock."""
        if not self._pacer.take(now):
            return
        if self._over:
            self._screen.stamp()
        elif self._step_keys is None:
            self._step(self._latch.take())
        else:
            self._reporter.report(self._frame(self._screen.stamp()))

    def _step(self, keys: frozenset[int]) -> None:
        outcome = self._environment.step(keys)
        at = self._screen.show(self._environment)
        # In real time a step is a frame; elsewhere frames are those of the clock, which tick counts.
        reports: list[Report] = [self._frame(at)] if self._step_keys is None else []
        reports += self._observation()
        lives = self._change_of_lives()
        if outcome.is_last or outcome.reward or lives or self._sync:
            reports.append(outcome.report(self._episode, at, lives))
        self._over = outcome.is_last
        if reports:
            self._reporter.report(*reports)

    def _frame(self, at: float) -> Frame:
        return Frame(self._episode, self._pacer.frames, self._pacer.late_frames, at)

    def _change_of_lives(self) -> dict[str, Any]:
        """Return the info about lives to send, if their number has changed."""
        before, self._lives = self._lives, self._environment.lives
        return {} if self._lives == before else {"lives": self._lives}

    def _observation(self) -> list[Report]:
        observation = self._environment.observation()
        return [] if observation is None else [Observation(self._episode, observation)]
