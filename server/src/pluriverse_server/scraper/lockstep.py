"""Episodes in lockstep: the agent's steps are played by the program's clock, and answered when all of it stands."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.events import Event, JoystickEvent, SubmitEvent
from pluriverse_protocol.reports import TIME_LIMIT, Done, Frame, Report, Reset

from pluriverse_server.kit import Outcome, Seen
from pluriverse_server.kit.lockstep import Kept
from pluriverse_server.kit.step_channel import ReportPace
from pluriverse_server.lockstep import Advance

from .descriptors import NotKept
from .pace import HANG_S, SteppedPace
from .play import Play
from .player import Broken
from .source_reader import Cycle
from .step_channels import ReportedSteps
from .stepped import KeptPlay, Stepped

log = logging.getLogger(__name__)

Sound = NDArray[np.int16]

HANGS: Final = f"the program computed for {HANG_S:g} s without waiting"


@dataclass(frozen=True, slots=True)
class _Moment:
    """A moment of an episode that a world of ``play`` played."""

    play: Play
    kept: KeptPlay
    over_at: float | None
    text: str
    observation: Any


class ScrapedSteps(ReportedSteps):
    """One episode of a play in lockstep; see ``kit.Steps`` and ``kit.Snapshots``. ``ended`` is set when it is over."""

    def __init__(
        self,
        stepped: Stepped,
        reset: Reset,
        go_to: Callable[[Play, KeptPlay, int], Stepped],
        report: Callable[[Cycle, Sequence[Report], Sound], None] = lambda cycle, reports, sound: None,
    ) -> None:
        """``go_to`` is called to be at a moment of a play, in an episode, and returns what goes on from there.

        ``report``: with each cycle, what follows from it, and what was played.
        """
        super().__init__(reset)
        self.ended = asyncio.Event()
        self.frames = 0
        self._be(stepped)
        self._report = report
        self._go_to = go_to
        self._why_not_kept = ""
        self._over_at = None if reset.time_limit_s is None else self._pace.now() + reset.time_limit_s
        self._reports = ReportPace()
        self._sound: list[Sound] = []

    def hear(self, *reports: Report) -> None:
        super().hear(*reports)
        if self.over:
            self.ended.set()

    def _be(self, stepped: Stepped) -> None:
        assert isinstance(stepped.pace, SteppedPace)
        assert stepped.still is not None
        self._stepped, self._pace, self._still = stepped, stepped.pace, stepped.still

    def keep(self) -> Kept | None:
        """Return the present moment; None if it can't be kept, which ``info`` explains."""
        try:
            kept = self._stepped.keep()
        except NotKept as error:
            self._why_not_kept = str(error)
            log.info("a snapshot is played again: %s", error)
            return None
        moment = _Moment(self._stepped.origin, kept, self._over_at, self.text, self.observation)
        size_of = partial(kept.moment.world.siblings.size_of, kept.moment)
        return Kept(moment, size_of(), kept.moment.close, size_of)

    @classmethod
    def at(cls, kept: Kept, reset: Reset, go_to: Callable[[Play, KeptPlay, int], Stepped]) -> Self:
        """Return an episode that begins at a moment; raise ValueError if that isn't there any more."""
        moment = _moment_of(kept)
        steps = cls(_go_to(go_to, moment, reset.episode), reset, go_to)
        steps._be_at(moment)
        return steps

    def go_back(self, kept: Kept) -> None:
        moment = _moment_of(kept)
        self._be(_go_to(self._go_to, moment, self.episode))
        self._be_at(moment)

    def _be_at(self, moment: _Moment) -> None:
        self._over_at, self.text, self.observation = moment.over_at, moment.text, moment.observation
        self.take()

    def play(self, events: Sequence[Event], frames: int) -> Outcome:
        self._still.apply([*self._stepped.pressed(), *events])
        if self._stepped.pads is not None:
            joystick = [event for event in events if isinstance(event, JoystickEvent)]
            self._stepped.pads.apply(joystick, self._pace.now())
        if any(isinstance(event, SubmitEvent) for event in events):
            self._stepped.rules.submit(self._pace.unix())
        self.text = ""
        self._sound.clear()
        for _ in range(frames):
            self.frames += 1
            self._still.injector.repeat_held(self._pace.now())
            answer = self._pace.step(HANG_S)
            self._sound.append(self._pace.clock.sound())
            self.hear(*self._judge(answer))
            if self.over:
                break
        return self.take()

    def see(self) -> Seen:
        asked = self._pace.clock.asked()
        info = {**self.info, "asked": dict(asked)} if asked else dict(self.info)
        if self._why_not_kept:
            info["snapshot"] = f"played again: {self._why_not_kept}"
            self._why_not_kept = ""
        sound = np.concatenate(self._sound) if self._sound else None
        pixels, changes = self._stepped.see()
        return Seen(pixels, self.text, self.observation, info, sound, changes)

    def _judge(self, answer: Advance) -> list[Report]:
        play = self._stepped
        if answer is Advance.LATE:
            return self._break_off(HANGS)
        try:
            cycle = play.cycle_still()
        except Broken as error:
            return self._break_off(str(error))
        reports = play.rules.feed(cycle.at, cycle.readings)
        # Others that it has started may live on.
        if answer is Advance.ENDED or (play.world is not None and play.world.has_ended):
            reports += play.rules.cut(cycle.at, play.why_it_ended())
        if self._over_at is not None and self._pace.now() >= self._over_at:
            reports += play.rules.cut(cycle.at, TIME_LIMIT)
        if self._reports.take() or any(isinstance(one, Done) for one in reports):
            reports.insert(0, Frame(self.episode, self._pace.frames, self._pace.late_frames, cycle.at))
        self._report(cycle, reports, self._sound[-1])
        return reports

    def _break_off(self, reason: str) -> list[Report]:
        reports = self._stepped.rules.cut(self._pace.unix(), reason, failed=True)
        self._stepped.break_off(reason)
        self._report(Cycle(self._pace.unix(), {}, 0.0), reports, self._sound[-1])
        return reports


def _moment_of(kept: Kept) -> _Moment:
    moment = kept.state
    if not isinstance(moment, _Moment) or moment.play.is_stopping or not moment.kept.moment.is_kept:
        raise ValueError("the snapshot's program has ended")
    return moment


def _go_to(go_to: Callable[[Play, KeptPlay, int], Stepped], moment: _Moment, episode: int) -> Stepped:
    try:
        return go_to(moment.play, moment.kept, episode)
    except Broken as error:
        raise ValueError(str(error)) from error
