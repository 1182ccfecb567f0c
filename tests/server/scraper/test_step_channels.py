"""Step channels on an event loop, whose episode waits; it is a stand-in."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import numpy as np
import pytest
from pluriverse_protocol.events import Event
from pluriverse_protocol.reports import Reset
from pluriverse_server.kit.lockstep import Seen, StepFailed
from pluriverse_server.kit.outcome import Outcome
from pluriverse_server.kit.step_channel import STEP_CHANNEL_VARIABLE
from pluriverse_server.scraper.step_channels import ReportedSteps, StepChannels
from support.step_channels import StepChannelAgent, StepChannelListener
from support.waiting import DEADLINE_S, eventually


class Waiting(ReportedSteps):
    """An episode each of whose steps goes on until it ``may``; one of 2 frames fails."""

    def __init__(self, number: int = 1) -> None:
        super().__init__(Reset(number, "a", 0, 60.0))
        self.may = asyncio.Semaphore(0)
        self.begun: int = 0
        self.ended: int = 0

    async def play(self, events: Sequence[Event], frames: int) -> Outcome:
        assert not events
        assert self.begun == self.ended
        self.begun += 1
        await self.may.acquire()
        self.ended += 1
        if frames == 2:
            raise StepFailed("it broke")
        return Outcome(self.ended)

    async def see(self) -> Seen:
        return Seen(np.zeros((2, 2, 3), np.uint8), f"after {self.ended}")


class Stage:
    """Step channels, and the daemon's end of the socket that they come by."""

    def __init__(self, listener: StepChannelListener) -> None:
        self.channels = StepChannels(waits=True)
        self._listener = listener

    async def agent(self) -> StepChannelAgent:
        agent = await asyncio.to_thread(self._listener.open_step_channel)
        await asyncio.to_thread(agent.hear_first)
        return agent


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Stage]:
    with StepChannelListener(tmp_path) as listener:
        monkeypatch.setenv(STEP_CHANNEL_VARIABLE, str(listener.path))
        stage = Stage(listener)
        try:
            async with asyncio.timeout(DEADLINE_S):
                yield stage
        finally:
            stage.channels.close()


async def test_steps_that_come_at_once_are_played_one_after_the_other_and_say_why_they_fail(stage: Stage) -> None:
    steps = Waiting()
    await stage.channels.begin(steps)
    agent = await stage.agent()
    for n, frames in ((1, 1), (2, 2), (3, 1)):
        agent.step(n, frames)
    await eventually(lambda: steps.begun == 1)
    for _ in range(3):
        steps.may.release()
    assert (await asyncio.to_thread(agent.hear_step, 1))[0].text == "after 1"
    assert await asyncio.to_thread(agent.hear_error) == "it broke"
    assert (await asyncio.to_thread(agent.hear_step, 3))[0].reward == 3.0


async def test_step_is_played_to_its_end_though_another_takes_its_agents_place_and_those_behind_it_are_not(
    stage: Stage,
) -> None:
    steps = Waiting()
    await stage.channels.begin(steps)
    first = await stage.agent()
    first.step(1)
    first.step(2)
    await eventually(lambda: steps.begun == 1)
    joining = asyncio.create_task(stage.agent())
    assert await asyncio.to_thread(first.hear_end) is None
    assert not joining.done()
    steps.may.release()
    second = await joining
    steps.may.release()
    second.step(1)
    assert (await asyncio.to_thread(second.hear_step, 1))[0].text == "after 2"


async def test_pings_are_answered_while_a_step_is_played(stage: Stage) -> None:
    steps = Waiting()
    await stage.channels.begin(steps)
    agent = await stage.agent()
    agent.step(1)
    await eventually(lambda: steps.begun == 1)
    agent.protocol.send_ping(b"there?")
    agent.flush()
    assert b"there?" in await asyncio.to_thread(agent.socket.recv, 100)
    steps.may.release()
    assert (await asyncio.to_thread(agent.hear_step, 1))[0].reward == 1.0


async def test_agent_that_comes_while_an_episode_begins_sees_its_first_frame_once(stage: Stage) -> None:
    async with stage.channels.turn:
        joining = asyncio.create_task(stage.agent())
        await eventually(lambda: len(stage.channels._listening) == 2)  # pyright: ignore[reportPrivateUsage]
        await stage.channels.begin(Waiting(7))
    agent = await joining
    assert agent.episode == 7
    agent.step(1, episode=6)
    assert await asyncio.to_thread(agent.hear_error) == "episode 6 is over; a reset begins another"
