"""One episode in lockstep: tics of an engine without a window, and a window of ours for those who watch."""

from __future__ import annotations

import numpy as np
from pluriverse_protocol.reports import Observation, Ready, Report, Reset
from pluriverse_server.kit import Outcome, Reporter, Seen, SteppedEpisode, Window

from .catalogue import entry_of
from .engine import HEIGHT, WIDTH, Engine


class View:
    def __init__(self) -> None:
        self.window = Window(WIDTH, HEIGHT, title="doom")
        self._region = self.window.image(0, 0, WIDTH, HEIGHT)
        self._picture = np.frombuffer(self._region.memory, np.uint8).reshape(HEIGHT, WIDTH, 4)

    def show(self, engine: Engine) -> None:
        self._picture[:, :, 2::-1] = engine.picture()
        self.window.put(self._region)

    def close(self) -> None:
        self.window.close()


class LockstepEpisode(SteppedEpisode):
    def __init__(self, request: Reset, engine: Engine, view: View, reporter: Reporter) -> None:
        """Show the first tic; ``begin`` has yet to report it. Raise EngineDied if the engine has crashed."""
        super().__init__(request, reporter)
        self._fps = request.fps
        self._engine = engine
        self._view = view
        engine.begin(entry_of(request.env), request.seed, hidden=True)
        self.draw()
        view.window.sync()

    def begin(self) -> None:
        self.report(Ready(self.episode, self._fps), *self.said())

    def step(self, keys: frozenset[int]) -> Outcome:
        return self._engine.step(keys)

    def see(self) -> Seen:
        return Seen(self._engine.picture(), observation=self._engine.observation())

    def draw(self) -> None:
        self._view.show(self._engine)

    def said(self) -> list[Report]:
        return [Observation(self.episode, self._engine.observation())]
