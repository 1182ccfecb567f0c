"""The step channel of an agent that plays a page in lockstep, and the episode that is played on it."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from pluriverse_protocol import Headers, reports
from pluriverse_protocol.errors import MessageId
from pluriverse_protocol.messages import AgentBegin, AgentStep, ErrorReply, FirstFrame, SnapshotReply, StepReply
from pluriverse_protocol.step_channel import View

from pluriverse_server.episode import Begin
from pluriverse_server.kit import views
from pluriverse_server.kit.step_channel import BEGINS_ELSEWHERE, ReportPace, StepChannel
from pluriverse_server.permitted import Permitted, pass_on
from pluriverse_server.tasks import start_task

from .page_clock import Box, PageClock

Pixels = NDArray[np.uint8]

# The shape of a picture that is yet to be made as it is wanted.
UNSEEN: Final = (1, 1, 3)

# A reply before anything is said.
NOTHING: Final = StepReply(0, 0.0, done=False, terminated=False, truncated=False, frame=UNSEEN)


class PageEpisode:
    """An episode of a page that stands still unless it is stepped. What the page reports goes into its replies."""

    def __init__(
        self,
        begin: Begin,
        clock: PageClock,
        permitted: Permitted | None,
        on_report: Callable[[reports.Report], None],
    ) -> None:
        """``permitted`` is what the agent may press, None for everything; ``on_report`` must call ``note``."""
        self.number = begin.episode_id
        self.ready = False
        self.over = False
        self._clock = clock
        self._permitted = permitted
        self._on_report = on_report
        limit_s = begin.environment.time_limit_s
        self._frames_left = None if limit_s is None else round(limit_s * begin.fps)
        self._frames = 0
        self._reports = ReportPace()
        self._box: Box | None = None
        self._said: StepReply = NOTHING
        # The last of the episode, for step channels that come later.
        self._text = ""
        self._observation: Any = None

    def note(self, report: reports.Report) -> None:
        said: StepReply = self._said
        match report:
            case reports.Ready(picture=box):
                self.ready, self._box = True, box
            case reports.Reward(reward=reward):
                self._said = replace(said, reward=said.reward + reward)
            case reports.Text(text=text):
                self._text = text
                self._said = replace(said, text=text)
            case reports.Observation(observation=observation):
                self._observation = observation
                self._said = replace(said, observation=observation)
            case reports.Done(reward=reward, terminated=terminated, truncated=truncated, reason=reason):
                self.over = True
                self._said = replace(
                    said,
                    reward=said.reward + reward,
                    done=True,
                    terminated=terminated,
                    truncated=truncated,
                    info={"reason": reason},
                )
            case _:
                pass

    async def first(self) -> tuple[FirstFrame, Pixels]:
        """Return the last text and observation, and the picture as it is now."""
        pixels = await self._picture()
        self._take()
        return FirstFrame(UNSEEN, self._text, self._observation, await self._asked()), pixels

    async def step(self, step: AgentStep) -> tuple[StepReply, Pixels]:
        events = pass_on(step.events, self._permitted)
        if events:
            await self._clock.apply(events)
        frames = step.frames if self._frames_left is None else min(step.frames, self._frames_left)
        passed = await self._clock.advance(frames, lambda: self.over)
        self._frames += passed
        if not self.over and self._reports.take():
            self._on_report(reports.Frame(self.number, self._frames, at=time.time()))
        if self._frames_left is not None:
            self._frames_left -= passed
            if not self.over and self._frames_left <= 0:
                self._on_report(reports.Done(self.number, terminated=False, truncated=True, reason=reports.TIME_LIMIT))
        pixels = await self._picture()
        said = self._take()
        return replace(said, n=step.n, info={**said.info, **await self._asked()}), pixels

    async def _asked(self) -> dict[str, Any]:
        asked = await self._clock.asked()
        return {"asked": dict(asked)} if asked else {}

    async def _picture(self) -> Pixels:
        pixels = await self._clock.pixels(self._box)
        return np.ascontiguousarray(pixels[..., 2::-1])

    def _take(self) -> StepReply:
        said = self._said
        self._said = NOTHING
        return said


class PageStepChannel:
    """The step channel of a page, if an agent has one: steps are played one by one, as they come."""

    def __init__(
        self, play: Callable[[AgentStep, Headers], Coroutine[Any, Any, tuple[StepReply | ErrorReply, Pixels | None]]]
    ) -> None:
        self._play = play
        self._step_channel: StepChannel | None = None
        self._descriptor: int | None = None  # of the step channel, as long as it is read from
        self._steps: asyncio.Queue[tuple[AgentStep, Headers]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        # The episode of which the step channel has had a frame unasked.
        self._shown: int | None = None

    def open(self, connection: socket.socket, view: View | None = None) -> None:
        """Take steps from a copy of ``connection``, and no more from the last one; ``view`` is of its pictures."""
        self.close()
        self._step_channel, self._shown = StepChannel(connection.dup(), view), None
        self._descriptor = self._step_channel.fileno()
        self._steps = asyncio.Queue()
        asyncio.get_running_loop().add_reader(self._descriptor, self._receive, self._step_channel)
        self._task = start_task(self._answer(self._step_channel, self._steps), "page: steps")

    def close(self) -> None:
        step_channel, self._step_channel = self._step_channel, None
        if step_channel is not None:
            self._stop_reading()
            step_channel.close()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _stop_reading(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            asyncio.get_running_loop().remove_reader(descriptor)

    async def show_first(self, episode: PageEpisode) -> None:
        """Show the agent, if there is one, what the episode looks like now, unless it has seen that."""
        step_channel = self._step_channel
        if step_channel is not None and self._shown != episode.number:
            self._shown = episode.number
            message, pixels = await episode.first()
            await asyncio.to_thread(_send, step_channel, message, episode.number, None, pixels)

    def _receive(self, step_channel: StepChannel) -> None:
        for asked, headers in step_channel.receive():
            if isinstance(asked, AgentStep):
                self._steps.put_nowait((asked, headers))
            elif isinstance(asked, AgentBegin):
                step_channel.send(ErrorReply(BEGINS_ELSEWHERE), 0, headers.message_id)
            else:
                # Its agent plays again instead.
                step_channel.send(SnapshotReply(), headers.episode_id or 0, headers.message_id)
        if step_channel.closed:
            self._stop_reading()

    async def _answer(self, step_channel: StepChannel, steps: asyncio.Queue[tuple[AgentStep, Headers]]) -> None:
        while not step_channel.closed:
            step, headers = await steps.get()
            # Played to its end even if the agent leaves: the page would go on with it beside the next one's.
            playing = start_task(self._play(step, headers), "page: step")
            reply, pixels = await asyncio.shield(playing)
            await asyncio.to_thread(_send, step_channel, reply, headers.episode_id or 0, headers.message_id, pixels)
        self._stop_reading()


def _send(
    step_channel: StepChannel,
    message: FirstFrame | StepReply | ErrorReply,
    episode: int,
    parent: MessageId | None,
    pixels: Pixels | None,
) -> None:
    if isinstance(message, ErrorReply) or pixels is None:
        step_channel.send(message, episode, parent)
        return
    shape, made = views.make(pixels, step_channel.view)
    step_channel.send(replace(message, frame=shape), episode, parent, made)
