"""One episode in lockstep: its environment goes on as the agent says, and stands still otherwise."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event, KeyEvent
from pluriverse_protocol.reports import Frame, Observation, Ready, Report, Reset, Text
from pluriverse_server.kit import KeyLatch, Outcome, Reporter, Seen
from pluriverse_server.kit.lockstep import WATCHED_FPS

from .environment import Environment
from .screen import Screen

TIME_LIMIT: Final = "time limit"

# Steps may be thousands a second.
REPORT_S: Final = 0.5


class LockstepEpisode:
    """An episode that an agent steps. A frame is a step of the environment, where it is turn-based each of its keys.

    Keys come from the agent alone, not from the screen, on which each frame is shown if anybody watches: at most
    ``WATCHED_FPS`` of them a second, and the last one in any case.
    """

    def __init__(
        self,
        request: Reset,
        environment: Environment,
        screen: Screen,
        reporter: Reporter,
        spaces: Spaces | None = None,
    ) -> None:
        """Show the first frame; ``begin`` has yet to report it, with ``spaces`` where they aren't those declared."""
        self.episode: int = request.episode
        self.over: bool = False
        self._fps = request.fps
        self._limit = None if request.time_limit_s is None else round(request.time_limit_s * request.fps)
        self._environment = environment
        self._screen = screen
        self._reporter = reporter
        self._spaces = spaces
        self._latch = KeyLatch()
        self._lives: int | None = None
        self._frames = 0
        environment.reset(request.seed)
        screen.fit(*environment.size)
        screen.show(environment)
        screen.window.sync()
        self.next_due: float | None = None
        """When the present frame is to be shown, on the monotonic clock; None: it is shown."""
        self._not_before = 0.0
        self._reported_at = 0.0

    def begin(self) -> None:
        """Report that the first frame is on the screen."""
        picture = (0, 0, *self._environment.size)
        self._reporter.report(
            Ready(self.episode, self._fps, picture=picture, spaces=self._spaces, info=self._change_of_lives() or None),
            *self._said(),
        )

    def play(self, events: Sequence[Event], frames: int) -> Outcome:
        """See ``kit.Steps``."""
        environment = self._environment
        turn_keys = environment.turn_keys
        outcomes: list[Outcome] = []
        for event in events:
            if not isinstance(event, KeyEvent) or self.over:
                continue
            self._latch.apply(event.keysym, down=event.down)
            if turn_keys is not None and event.down and event.keysym in turn_keys:
                outcomes.append(self._step(frozenset({event.keysym})))
        for _ in range(frames):
            if self.over:
                break
            if turn_keys is None:
                outcomes.append(self._step(self._latch.take()))
            self._frames += 1
            if not self.over and self._frames == self._limit:
                self.over = True
                outcomes.append(Outcome(0.0, truncated=True, reason=TIME_LIMIT))
        return self._sum(outcomes)

    def see(self) -> Seen:
        """See ``kit.Steps``."""
        environment = self._environment
        info = {} if self._lives is None else {"lives": self._lives}
        return Seen(environment.rgb(), environment.text(), environment.observation(), info)

    def show(self, now: float) -> None:
        """Show the frame if that is due at ``now``, on the monotonic clock."""
        if self.next_due is None or now < self.next_due:
            return
        self.next_due = None
        self._not_before = now + 1 / WATCHED_FPS
        self._screen.show(self._environment)

    def _report_frame(self, now: float) -> None:
        """Report now and then what there is, for people and observers."""
        if now >= self._reported_at + REPORT_S:
            self._reported_at = now
            self._reporter.report(Frame(self.episode, self._frames, 0, time.time()), *self._said())

    def _step(self, keys: frozenset[int]) -> Outcome:
        outcome = self._environment.step(keys)
        self.over = outcome.is_last
        return outcome

    def _sum(self, outcomes: Sequence[Outcome]) -> Outcome:
        """Return the outcome of all, and report it if it is more than that time went on."""
        last = outcomes[-1] if outcomes else Outcome(0.0)
        outcome = Outcome(sum(each.reward for each in outcomes), last.terminated, last.truncated, last.reason)
        lives = self._change_of_lives()
        self.next_due = self._not_before
        self._report_frame(time.monotonic())
        if outcome.is_last or outcome.reward or lives:
            self._reporter.report(outcome.report(self.episode, time.time(), lives))
        return outcome

    def _change_of_lives(self) -> dict[str, Any]:
        before, self._lives = self._lives, self._environment.lives
        return {} if self._lives == before else {"lives": self._lives}

    def _said(self) -> list[Report]:
        text, observation = self._environment.text(), self._environment.observation()
        said: list[Report] = [Text(self.episode, text)] if text else []
        return said if observation is None else [*said, Observation(self.episode, observation)]
