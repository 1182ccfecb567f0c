"""Episodes in lockstep: the agent's steps are played by the program's clock, and answered when all of it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from pluriverse_protocol.events import Event
from pluriverse_protocol.reports import TIME_LIMIT, Done, Frame, Observation, Report, Reward, Text

from pluriverse_server.kit import Outcome, Seen
from pluriverse_server.kit.lockstep import Lockstep
from pluriverse_server.kit.step_channel import ReportPace
from pluriverse_server.lockstep import Advance
from pluriverse_server.permitted import Permitted

from .pace import HANG_S, SteppedPace
from .play import Broken, Play
from .source_reader import Cycle

ENDED: Final = "the program ended"
HANGS: Final = f"the program computed for {HANG_S:g} s without a wait"


class ScrapedSteps:
    """One episode of a play in lockstep; see ``kit.Steps``. ``ended`` is set when it is over."""

    def __init__(
        self,
        play: Play,
        episode: int,
        time_limit_s: float | None,
        permitted: Permitted | None,
        report: Callable[[Cycle, Sequence[Report]], None],
    ) -> None:
        """``permitted`` is what the agent may press, None for everything.

        ``report`` is called with each cycle and what follows from it.
        """
        assert isinstance(play.pace, SteppedPace)
        assert play.still is not None
        self.episode = episode
        self.over = False
        self.permitted: Permitted | None = permitted
        self.ended = asyncio.Event()
        self._play = play
        self._pace = play.pace
        self._still = play.still
        self._report = report
        self._over_at = None if time_limit_s is None else self._pace.now() + time_limit_s
        self._reports = ReportPace()
        self._text = ""
        self._observation: Any = None

    def hear(self, reports: Sequence[Report]) -> Outcome:
        reward = 0.0
        for report in reports:
            match report:
                case Text(text=text):
                    self._text = text
                case Observation(observation=observation):
                    self._observation = observation
                case Reward(reward=earned):
                    reward += earned
                case Done(reward=earned, terminated=terminated, truncated=truncated, reason=reason):
                    self.over = True
                    self.ended.set()
                    return Outcome(reward + earned, terminated, truncated, reason)
                case _:
                    pass
        return Outcome(reward)

    def play(self, events: Sequence[Event], frames: int) -> Outcome:
        self._still.apply(events)
        outcome, reward = Outcome(0.0), 0.0
        self._text = ""
        for _ in range(frames):
            outcome = self.hear(self._judge(self._pace.step(HANG_S)))
            reward += outcome.reward
            if self.over:
                break
        return Outcome(reward, outcome.terminated, outcome.truncated, outcome.reason)

    def see(self) -> Seen:
        asked = self._pace.clock.asked()
        return Seen(self._still.see(), self._text, self._observation, {"asked": dict(asked)} if asked else {})

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
        if self._reports.take():
            reports.insert(0, Frame(self.episode, self._pace.frames, self._pace.late_frames, cycle.at))
        self._report(cycle, reports)
        return reports

    def _break_off(self, reason: str) -> list[Report]:
        reports = self._play.rules.cut(self._pace.unix(), reason)
        self._play.break_off(reason)
        self._report(Cycle(self._pace.unix(), {}, 0.0), reports)
        return reports


class StepChannels:
    """Attends to the step channels of agents on the event loop, which stands still while a step is played."""

    def __init__(self) -> None:
        self._lockstep = Lockstep()
        self._loop = asyncio.get_running_loop()
        self._listening: dict[int, object] = {}
        self._listen()

    def begin(self, episode: ScrapedSteps | None) -> None:
        """Play this episode; None: it is in real time, or there is none."""
        self._lockstep.begin(episode)

    def close(self) -> None:
        for descriptor in self._listening:
            self._loop.remove_reader(descriptor)
        self._listening.clear()

    def _listen(self) -> None:
        wanted = {each.fileno(): each for each in self._lockstep.waits_on}
        if wanted == self._listening:
            return
        for descriptor in self._listening:
            self._loop.remove_reader(descriptor)
        for descriptor, each in wanted.items():
            self._loop.add_reader(descriptor, self._attend, each)
        self._listening = dict(wanted)

    def _attend(self, readable: object) -> None:
        self._lockstep.attend([readable])
        self._listen()
