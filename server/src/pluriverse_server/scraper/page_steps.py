"""An episode of a page in lockstep."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any

from pluriverse_protocol.events import Event, ScreenEvent, SubmitEvent
from pluriverse_protocol.messages import TreeReply
from pluriverse_protocol.reports import TIME_LIMIT, Done, Frame, Observation, Ready, Report, Reset, Text

from pluriverse_server.display import DisplayLost
from pluriverse_server.kit.lockstep import Seen, StepFailed
from pluriverse_server.kit.outcome import Outcome
from pluriverse_server.kit.step_channel import ReportPace
from pluriverse_server.sources.page.devtools import DevToolsError
from pluriverse_server.sources.screen.grab import ScreenLost
from pluriverse_server.sources.trees import Box, NoTree

from .page_clock import PageClock, Stuck
from .step_channels import ReportedSteps


class PageSteps(ReportedSteps):
    """An episode of a page that stands still unless it is stepped; see ``kit.Steps``."""

    def __init__(
        self,
        reset: Reset,
        clock: PageClock,
        on_report: Callable[[Report], None],
        on_failure: Callable[[PageSteps, Exception], None],
        on_submit: Callable[[], Awaitable[None]],
    ) -> None:
        """``on_report`` must call ``hear``; ``on_failure`` gets why a step or frame couldn't be made.

        ``on_submit`` ends the episode as the agent asks for it.
        """
        super().__init__(reset)
        self.ready = False
        self._clock = clock
        self._on_report = on_report
        self._on_failure = on_failure
        self._on_submit = on_submit
        self._frames_left = None if reset.time_limit_s is None else round(reset.time_limit_s * reset.fps)
        self._frames = 0
        self._reports = ReportPace()
        self._box: Box | None = None
        # Replies have what is new of text and observation; the first of a step channel has what was last.
        self._new: dict[str, Any] = {}
        self._played = False

    def hear(self, *reports: Report) -> None:
        super().hear(*reports)
        for report in reports:
            match report:
                case Ready(picture=box):
                    self.ready, self._box = True, box
                case Text(text=text):
                    self._new["text"] = text
                case Observation(observation=observation):
                    self._new["observation"] = observation
                case _:
                    pass

    async def play(self, events: Sequence[Event], frames: int) -> Outcome:
        inputs = [event for event in events if isinstance(event, ScreenEvent)]
        with self._failing():
            if inputs:
                await self._clock.apply(inputs)
            wanted = frames if self._frames_left is None else min(frames, self._frames_left)
            passed = await self._clock.advance(wanted, lambda: self.over)
            if not self.over and any(isinstance(event, SubmitEvent) for event in events):
                await self._on_submit()
        self._frames += passed
        if not self.over and self._reports.take():
            self._on_report(Frame(self.episode, self._frames, at=time.time()))
        if self._frames_left is not None:
            self._frames_left -= passed
            if not self.over and self._frames_left <= 0:
                self._on_report(Done(self.episode, terminated=False, truncated=True, reason=TIME_LIMIT))
        self._played = True
        return self.take()

    async def see(self) -> Seen:
        with self._failing():
            pixels = await self._clock.pixels(self._box)
            asked = await self._clock.asked()
        last: dict[str, Any] = {"text": self.text, "observation": self.observation}
        said = self._new if self._played else last
        self._new, self._played = {}, False
        info = {**self.info, "asked": dict(asked)} if asked else self.info
        return Seen(pixels, info=info, **said)

    async def tree(self) -> TreeReply:
        try:
            tree = await self._clock.tree(self._box)
        except NoTree as error:
            raise StepFailed(str(error)) from error
        return TreeReply(tree.nodes, tree.left_out)

    @contextlib.contextmanager
    def _failing(self) -> Generator[None]:
        try:
            yield
        except (DevToolsError, DisplayLost, ScreenLost, Stuck) as error:
            self._on_failure(self, error)
            raise StepFailed(f"the step failed: {error}") from error
