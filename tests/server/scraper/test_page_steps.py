"""Pages in lockstep as agents have them, in a whole remote."""

from contextlib import AbstractAsyncContextManager
from unittest.mock import AsyncMock

import numpy as np
import pytest
from pluriverse_protocol import step_channel
from pluriverse_protocol.messages import ErrorReply, FirstFrame, ServerMessage, StepReply
from pluriverse_protocol.reports import Done, Frame, Ready, Report, Reset, Reward, Text
from pluriverse_server.kit.lockstep import StepFailed
from pluriverse_server.scraper.page_clock import Stuck
from pluriverse_server.scraper.page_steps import PageSteps
from support.agent import Agent
from support.agent import connected as agent_at
from support.pages import PageRemote, page_remote, short_folder, write_runtime
from support.served import PASSWORD

pytestmark = pytest.mark.browser

BEGINS = "<script>game.begin(0)</script>"
HANGS = "<script>on.h = () => { for (;;); }</script>"


async def heard(agent: Agent) -> tuple[ServerMessage, int | None]:
    """The next message on a step channel, and its episode."""
    data = await agent.socket.recv()
    assert isinstance(data, bytes)
    envelope, _ = step_channel.unpack(data)
    return envelope.message, envelope.headers.episode_id


async def first(agent: Agent) -> int:
    """The episode whose first frame comes next."""
    message, episode = await heard(agent)
    assert isinstance(message, FirstFrame), message
    assert episode is not None
    return episode


async def ask(agent: Agent, n: int, episode: int, key: str = "", frames: int = 1) -> None:
    """Ask for a step, with a key that is pressed in it."""
    events = [["KeyEvent", ord(key), down] for down in (True, False)] if key else []
    await agent.send("v0.agent.step", {"n": n, "frames": frames, "events": events}, episode_id=str(episode))


async def stepped(agent: Agent, n: int) -> StepReply:
    """The answer to step ``n``, which comes next."""
    message, _ = await heard(agent)
    assert isinstance(message, StepReply), message
    assert message.n == n
    return message


async def refused(agent: Agent) -> str:
    message, _ = await heard(agent)
    assert isinstance(message, ErrorReply), message
    return message.message


def step_channel_of(remote: PageRemote) -> AbstractAsyncContextManager[Agent]:
    return agent_at(remote.port, PASSWORD, path="/step?size=20,30&grey=1")


async def test_steps_say_what_is_new_a_first_frame_what_was_last_and_one_that_is_stuck_that_it_failed() -> None:
    clock, said, failures = AsyncMock(), list[Report](), list[Exception]()
    clock.pixels.return_value = np.zeros((2, 2, 4), np.uint8)
    clock.asked.return_value = {}
    clock.advance.return_value = 1
    steps = PageSteps(
        Reset(1, "a", 0, 60.0, time_limit_s=2 / 60), clock, said.append, lambda _, error: failures.append(error)
    )
    steps.hear(Ready(1), Text(1, "hello"), Reward(1, 2.0))
    assert (await steps.play((), 1)).reward == 2.0
    assert (await steps.see()).text == "hello"
    clock.advance.side_effect = Stuck("too long")
    with pytest.raises(StepFailed, match="the step failed: too long"):
        await steps.play((), 1)
    assert [str(error) for error in failures] == ["too long"]
    clock.advance.side_effect = None
    await steps.play((), 1)
    assert [type(report) for report in said] == [Frame, Done]
    assert [(await steps.see()).text for _ in range(2)] == ["", "hello"]


@pytest.mark.slow
async def test_page_that_hangs_in_a_step_is_replaced() -> None:
    with short_folder() as folder:
        async with page_remote(write_runtime(folder, {"Hangs": BEGINS + HANGS})) as remote:
            await remote.play("Hangs", clock="lockstep")
            async with step_channel_of(remote) as agent:
                episode = await first(agent)
                await ask(agent, 1, episode, "h")
                assert "the step failed" in await refused(agent)
                assert "without a pause" in await remote.truncated()
                assert await first(agent) == episode + 1
                await ask(agent, 2, episode + 1, "a")
                assert (await stepped(agent, 2)).reward == 1.0
