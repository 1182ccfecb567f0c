"""An episode in lockstep: time goes on in it only as an agent steps it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event, KeyEvent, SubmitEvent
from pluriverse_protocol.reports import SUBMITTED, TIME_LIMIT, Frame, Report, Reset

from pluriverse_server.permitted import Permitted, permitted_by

from .keys import KeyLatch
from .lockstep import Kept, Seen
from .outcome import Outcome
from .reporter import Reporter
from .step_channel import ReportPace

# Who watches sees no more frames a second than this, and always the last one.
WATCHED_FPS: Final = 60.0

# The daemon hears of rewards at most so often: some environments earn at each of thousands of frames a second.
EARNED_S: Final = 0.05


class SteppedEpisode(ABC):
    """Plays the steps of one episode; a subclass defines a frame. Implements ``lockstep.Steps``.

    Keys come from the agent alone, not from the screen, on which frames are shown while anybody watches.
    """

    turn_keys: frozenset[int] | None = None
    """The keysyms whose press is a step, where frames alone change nothing."""

    def __init__(self, request: Reset, reporter: Reporter | None, spaces: Spaces | None = None) -> None:
        """``spaces`` are those of this episode, where they aren't those declared.

        ``reporter`` None: it is in a slot, of which its agent alone hears.
        """
        self.episode: int = request.episode
        self.permitted: Permitted | None = permitted_by(spaces or request.spaces, ())
        """What the agent may press; None: everything."""
        self.over: bool = False
        self._limit = None if request.time_limit_s is None else max(1, round(request.time_limit_s * request.fps))
        self._reporter = reporter
        self._latch = KeyLatch()
        # Those that were played, and those that count towards the limit.
        self.frames: int = 0
        self._played = 0
        # When the present frame is to be shown, on the monotonic clock (None: it is), and the earliest for the next.
        self._show_at: float | None = None
        self._not_before = 0.0
        # What the daemon has yet to hear of rewards and when, and when it last has.
        self._earned = 0.0
        self._earned_due: float | None = None
        self._earned_at = 0.0
        self._reports = ReportPace()
        # What the daemon knows of ``info``.
        self._told: dict[str, Any] | None = None

    @abstractmethod
    def see(self) -> Seen:
        """Return the current frame, with text, observation and info."""

    @abstractmethod
    def step(self, keys: frozenset[int]) -> Outcome:
        """Go on by one frame with these keysyms held, or where it is turn-based by the one that was pressed."""

    def submit(self) -> Outcome:
        """End as the agent says that it is done; return what that earns."""
        return Outcome(0.0, terminated=True, reason=SUBMITTED)

    def skip(self, keys: frozenset[int]) -> Outcome:
        """Go on as ``step`` does, by a frame that is seen only if the episode ends with it."""
        return self.step(keys)

    @abstractmethod
    def draw(self) -> None:
        """Show the frame on the screen."""

    def said(self) -> list[Report]:
        """Return the texts and observations of now, for observers."""
        return []

    def save(self) -> Kept | None:
        """Return what ``load`` needs to go back to this frame; None if it can't go back."""
        return None

    def load(self, kept: Kept) -> None:
        """Go back to a saved frame; ``ValueError`` if it is another environment's, or saving isn't supported."""
        raise ValueError("this environment doesn't support snapshots")

    def keep(self) -> Kept | None:
        saved = self.save()
        return None if saved is None else Kept((saved, self._latch.copy(), self._played), saved.size)

    def go_back(self, kept: Kept) -> None:
        """See ``lockstep.Snapshots``. The daemon goes on counting frames and rewards."""
        saved, latch, played = kept.state
        self.load(saved)
        self._latch, self._played = latch.copy(), played
        self._show_at = self._not_before

    def play(self, events: Sequence[Event], frames: int) -> Outcome:
        """Apply events, and go on by so many frames, or until the episode is over; report what the daemon must know."""
        if self._told is None:
            self._told = self.info()
        outcomes: list[Outcome] = []
        for event in events:
            if isinstance(event, SubmitEvent) and not self.over:
                self.over = True
                outcomes.append(self.submit())
            if not isinstance(event, KeyEvent) or self.over:
                continue
            self._latch.apply(event.keysym, down=event.down)
            if self.turn_keys is not None and event.down and event.keysym in self.turn_keys:
                outcomes.append(self._step(frozenset({event.keysym})))
        for left in range(frames if self._limit is None else min(frames, self._limit - self._played), 0, -1):
            if self.over:
                break
            if self.turn_keys is None:
                outcomes.append(self._step(self._latch.take(), seen=left == 1))
            self.frames += 1
            self._played += 1
        if not self.over and self._played == self._limit:
            self.over = True
            outcomes.append(Outcome(0.0, truncated=True, reason=TIME_LIMIT))
        last = outcomes[-1] if outcomes else Outcome(0.0)
        outcome = Outcome(sum(each.reward for each in outcomes), last.terminated, last.truncated, last.reason)
        self._report(outcome)
        return outcome

    def due(self, *, watched: bool) -> float | None:
        """Return when there is something to ``attend`` to, on the monotonic clock; None: nothing before a step."""
        dues = (self._show_at if watched else None, self._earned_due)
        return min((due for due in dues if due is not None), default=None)

    def attend(self, now: float, *, watched: bool) -> None:
        """Show the frame, and report rewards, if that is due at ``now``, on the monotonic clock."""
        if watched and self._show_at is not None and now >= self._show_at:
            self._show_at = None
            self._not_before = now + 1 / WATCHED_FPS
            self.draw()
        if self._earned_due is not None and now >= self._earned_due:
            self._report_earned(Outcome(0.0), {}, now)

    def info(self) -> dict[str, Any]:
        """Return what is known of now, such as ``lives``; rewards carry what has changed."""
        return {}

    def report(self, *reports: Report) -> None:
        """Report to the daemon, unless this is in a slot."""
        if self._reporter is not None:
            self._reporter.report(*reports)

    def _step(self, keys: frozenset[int], *, seen: bool = True) -> Outcome:
        outcome = self.step(keys) if seen else self.skip(keys)
        self.over = outcome.is_last
        return outcome

    def _report(self, outcome: Outcome) -> None:
        if self._reporter is None:
            return
        self._show_at = self._not_before
        now = time.monotonic()
        if self._reports.take() or outcome.is_last:
            self.report(Frame(self.episode, self.frames, 0, time.time()), *self.said())
        self._earned += outcome.reward
        if outcome.reward and self._earned_due is None:
            self._earned_due = max(now, self._earned_at + EARNED_S)
        info = self.info()
        news = info if info != self._told else {}
        self._told = info
        if outcome.is_last or news or (self._earned_due is not None and now >= self._earned_due):
            self._report_earned(outcome, news, now)

    def _report_earned(self, outcome: Outcome, news: dict[str, Any], now: float) -> None:
        earned, self._earned, self._earned_due, self._earned_at = self._earned, 0.0, None, now
        self.report(replace(outcome, reward=earned).report(self.episode, time.time(), news))
