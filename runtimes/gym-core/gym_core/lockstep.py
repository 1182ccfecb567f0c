"""One episode in lockstep: its environment goes on as the agent says, and stands still otherwise."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.reports import Observation, Ready, Report, Reset, Text
from pluriverse_server.kit import Kept, Outcome, Reporter, Seen, SteppedEpisode

from .environment import Environment
from .screen import Screen


class LockstepEpisode(SteppedEpisode):
    """An episode in which a frame is a step of the environment, where that is turn-based each of its keys."""

    def __init__(
        self,
        request: Reset,
        environment: Environment,
        reporter: Reporter | None = None,
        screen: Screen | None = None,
        spaces: Spaces | None = None,
    ) -> None:
        """Begin it, and show the first frame on ``screen``; without one it is in a slot, which nobody watches."""
        super().__init__(request, reporter, spaces)
        self.turn_keys = environment.turn_keys
        self._fps = request.fps
        self._environment = environment
        self._screen = screen
        self._spaces = spaces
        # What was seen then, until the step after going back: an emulator's state has no picture.
        self._back_at: Seen | None = None
        environment.reset(request.seed)
        if screen is not None:
            screen.fit(*environment.size)
            screen.show(environment)
            screen.window.sync()

    def begin(self) -> None:
        """Report that the first frame is on the screen, with ``spaces`` where they aren't those declared."""
        picture = (0, 0, *self._environment.size)
        ready = Ready(self.episode, self._fps, picture=picture, spaces=self._spaces, info=self.info() or None)
        self.report(ready, *self.said())

    def step(self, keys: frozenset[int]) -> Outcome:
        self._back_at = None
        return self._environment.step(keys)

    def skip(self, keys: frozenset[int]) -> Outcome:
        self._back_at = None
        return self._environment.skip(keys)

    def see(self) -> Seen:
        if self._back_at is not None:
            return self._back_at
        environment = self._environment
        return Seen(environment.rgb(), environment.text(), environment.observation(), self.info())

    def save(self) -> Kept | None:
        kept = self._environment.save()
        if kept is None:
            return None
        seen = self.see()
        pixels = zlib.compress(seen.pixels.tobytes(), 1)
        return Kept(
            (kept, replace(seen, pixels=np.empty(0, np.uint8)), seen.pixels.shape, pixels), kept.size + len(pixels)
        )

    def load(self, kept: Kept) -> None:
        environment, said, shape, pixels = kept.state
        self._environment.load(environment)
        self._back_at = replace(said, pixels=np.frombuffer(zlib.decompress(pixels), np.uint8).reshape(shape))

    def draw(self) -> None:
        if self._screen is None:
            return
        if self._back_at is None:
            self._screen.show(self._environment)
        else:
            self._screen.show_picture(self._back_at.pixels)

    def info(self) -> dict[str, Any]:
        lives = self._environment.lives
        return {} if lives is None else {"lives": lives}

    def said(self) -> list[Report]:
        text, observation = self._environment.text(), self._environment.observation()
        said: list[Report] = [Text(self.episode, text)] if text else []
        return said if observation is None else [*said, Observation(self.episode, observation)]
