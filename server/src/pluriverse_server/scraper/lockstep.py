"""Episodes in lockstep: the agent's steps are played by the program's clock, and answered when all of it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from pluriverse_protocol.events import Event
from pluriverse_protocol.reports import TIME_LIMIT, Done, Frame, Report, Reset

from pluriverse_server.kit import Outcome, Seen
from pluriverse_server.kit.step_channel import ReportPace
from pluriverse_server.lockstep import Advance

from .pace import HANG_S, SteppedPace
from .play import Play
from .player import Broken
from .source_reader import Cycle
from .step_channels import ReportedSteps

ENDED: Final = "the program ended"
HANGS: Final = f"the program computed for {HANG_S:g} s without waiting"


class ScrapedSteps(ReportedSteps):
    """One episode of a play in lockstep; see ``kit.Steps``. ``ended`` is set when it is over."""

    def __init__(self, play: Play, reset: Reset, report: Callable[[Cycle, Sequence[Report]], None]) -> None:
        """``report`` is called with each cycle and what follows from it."""
        super().__init__(reset)
        assert isinstance(play.pace, SteppedPace)
        assert play.still is not None
        self.ended = asyncio.Event()
        self._play = play
        self._pace = play.pace
        self._still = play.still
        self._report = report
        self._over_at = None if reset.time_limit_s is None else self._pace.now() + reset.time_limit_s
        self._reports = ReportPace()

    def hear(self, *reports: Report) -> None:
        super().hear(*reports)
        if self.over:
            self.ended.set()

    def play(self, events: Sequence[Event], frames: int) -> Outcome:
        self._still.apply(events)
        self.text = ""
        for _ in range(frames):
            self.hear(*self._judge(self._pace.step(HANG_S)))
            if self.over:
                break
        return self.take()

    def see(self) -> Seen:
        asked = self._pace.clock.asked()
        return Seen(self._still.see(), self.text, self.observation, {"asked": dict(asked)} if asked else {})

    def _judge(self, answer: Advance) -> list[Report]:
        play = self._play
        if answer is Advance.LATE:
            return self._break_off(HANGS)
        try:
            cycle = play.cycle_still()
        except Broken as error:
            return self._break_off(str(error))
        reports = play.rules.feed(cycle.at, cycle.readings)
        if answer is Advance.ENDED:
            reports += play.rules.cut(cycle.at, ENDED)
        if self._over_at is not None and self._pace.now() >= self._over_at:
            reports += play.rules.cut(cycle.at, TIME_LIMIT)
        if self._reports.take() or any(isinstance(one, Done) for one in reports):
            reports.insert(0, Frame(self.episode, self._pace.frames, self._pace.late_frames, cycle.at))
        self._report(cycle, reports)
        return reports

    def _break_off(self, reason: str) -> list[Report]:
        reports = self._play.rules.cut(self._pace.unix(), reason)
        self._play.break_off(reason)
        self._report(Cycle(self._pace.unix(), {}, 0.0), reports)
        return reports
