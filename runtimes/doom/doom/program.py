"""Plays episodes of the engine, tic by tic."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from pluriverse_protocol.reports import Frame, Observation, Ready, Report, Reset
from pluriverse_server import kit

from .catalogue import entry_of
from .engine import Engine
from .lockstep import LockstepEpisode, View

# runtime.toml says the same.
BLOCK_X: Final = 626
BLOCK_Y: Final = 8


@dataclass(slots=True)
class _Episode:
    number: int
    pacer: kit.Pacer
    over: bool = False
    sent: list[float] = field(default_factory=list[float])


class Program(kit.Program):
    """The loop around the engine. The block's window is its own, above the engine's."""

    def __init__(self, reporter: kit.Reporter, engine: Engine) -> None:
        self._shown = kit.BlockWindow(BLOCK_X, BLOCK_Y, "doom block")
        # The engine's window leaves it where one aims.
        self._shown.window.hide_pointer()
        super().__init__(reporter, self._shown.window, self._shown.block)
        self._engine = engine
        self._episode: _Episode | LockstepEpisode | None = None
        # In lockstep.
        self._view: View | None = None

    def idle_s(self) -> float | None:
        episode = self._episode
        if isinstance(episode, LockstepEpisode):
            due = episode.due(watched=self.lockstep.watched)
        else:
            due = episode.pacer.next_due if episode is not None else None
        return None if due is None else due - time.monotonic()

    def reset(self, request: Reset) -> None:
        """Begin an episode.

        Raises:
            UnknownEnvironment: the catalogue hasn't the one that was asked for.
            EngineDied: the engine has crashed.
        """
        if request.clock == "lockstep":
            self._view = self._view or View()
            stepped = self._episode = LockstepEpisode(request, self._engine, self._view, self.reporter)
            stepped.begin()
            self.lockstep.begin(stepped)
            return
        self.lockstep.begin(None)
        if self._view is not None:
            self._view.close()
            self._view = None
        self._engine.begin(entry_of(request.env), request.seed)
        self._stamp()
        self._shown.window.sync()
        self.drop_keys()
        pacer = kit.Pacer(request.fps, time.monotonic() + 1 / request.fps)
        self._episode = _Episode(request.episode, pacer)
        self.reporter.report(Ready(request.episode, request.fps), *self._observation(self._episode))

    def attend(self) -> None:
        """Play a tic if it is time; raise EngineDied if the engine has crashed."""
        episode = self._episode
        if isinstance(episode, LockstepEpisode):
            episode.attend(time.monotonic(), watched=self.lockstep.watched)
            return
        if episode is None or not episode.pacer.take(time.monotonic()):
            return
        if episode.over:
            # The last picture stays; its clock goes on.
            self._stamp()
            return
        outcome = self._engine.step(self.latch.take())
        at = self._stamp()
        reports: list[Report] = [Frame(episode.number, episode.pacer.frames, episode.pacer.late_frames, at)]
        reports += self._observation(episode)
        if outcome.is_last or outcome.reward:
            reports.append(outcome.report(episode.number, at))
        episode.over = outcome.is_last
        self.reporter.report(*reports)

    def _stamp(self) -> float:
        """Paint the clock, after the picture; return it in UNIX seconds."""
        now = time.time()
        self._shown.paint(now)
        return now

    def _observation(self, episode: _Episode) -> list[Report]:
        """Return the variables, if one of them has changed."""
        values = self._engine.observation()
        if values == episode.sent:
            return []
        episode.sent = values
        return [Observation(episode.number, values)]
