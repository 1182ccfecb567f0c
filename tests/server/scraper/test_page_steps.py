"""Pages in lockstep as agents have them, in a whole remote."""

from unittest.mock import AsyncMock

import numpy as np
import pytest
from pluriverse_protocol import Envelope, step_channel
from pluriverse_protocol.messages import ErrorReply, FirstFrame, ServerMessage, StepReply
from pluriverse_protocol.reports import Done, Frame, Ready, Report, Reset, Reward, Text
from pluriverse_server.kit.lockstep import StepFailed
from pluriverse_server.scraper.page_clock import Stuck
from pluriverse_server.scraper.page_steps import PageSteps
from support.agent import Agent, connected
from support.pages import MANIFEST, page_remote, short_folder, write_runtime
from support.served import PASSWORD

pytestmark = pytest.mark.browser

BEGINS = "<script>game.begin(0)</script>"
# Notes that the pointer was moved, and tells what it has noted.
SERVE = """
def respond(request, home):
    if request.path == "/moved":
        (home / "moved").touch()
    return "".join(path.name for path in home.iterdir())
"""
HANGS = "<script>on.h = () => { for (;;); }</script>"


async def heard(agent: Agent) -> Envelope[ServerMessage]:
    """The next message on a step channel."""
    data = await agent.socket.recv()
    assert isinstance(data, bytes)
    return step_channel.unpack(data)[0]


async def ask(agent: Agent, first: Envelope[ServerMessage], key: str) -> ServerMessage:
    """The answer to the first step of an episode, with a key that is pressed in it."""
    assert isinstance(first.message, FirstFrame)
    events = [["KeyEvent", ord(key), down] for down in (True, False)]
    await agent.send("v0.agent.step", {"n": 1, "events": events}, episode_id=str(first.headers.episode_id))
    return (await heard(agent)).message


async def test_steps_say_what_is_new_a_first_frame_what_was_last_and_one_that_is_stuck_that_it_failed() -> None:
    clock, said, failures = AsyncMock(), list[Report](), list[Exception]()
    clock.pixels.return_value = np.zeros((2, 2, 3), np.uint8)
    clock.asked.return_value = {}
    clock.advance.return_value = 1
    reset = Reset(1, "a", 0, 60.0, time_limit_s=2 / 60)
    steps = PageSteps(reset, clock, said.append, lambda _, error: failures.append(error), AsyncMock())
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


async def test_pages_of_other_environments_stay_for_their_next_episodes_and_get_their_keys_alone() -> None:
    place = 'files = "www"\nstart = "{env.page}.html"'
    begin = 'begin = "game.begin(pluriverse.env.page + game.begun)"'
    with short_folder() as folder:
        async with page_remote(write_runtime(folder, dict.fromkeys("ABCDE", ""), begin, place=place)) as remote:
            await remote.play("E", clock="lockstep")
            async with connected(remote.port, PASSWORD, path="/step") as agent:
                assert (await heard(agent)).headers.episode_id
                # By its document, how often it was begun in before; one that was longest unused is closed.
                for told in ("A0", "B0", "A1", "C0", "D0", "B1", "E0", "A0", "B2"):
                    await remote.play(told[0], clock="lockstep")
                    first = await heard(agent)
                    assert isinstance(first.message, FirstFrame)
                    assert first.message.text == f"seed {told}"
                    answer = await ask(agent, first, "a")
                    assert isinstance(answer, StepReply)
                    assert answer.reward == 1.0


async def test_what_a_page_does_as_its_episode_ends_is_gone_in_the_next() -> None:
    place = 'files = "www"\nstart = "{env.page}.html"\nserve = "serve.py"'
    kept = "fetch(`/kept`).then((answer) => answer.text())"
    begin = f'begin = "{kept}.then((kept) => game.begin(kept + localStorage.length))"'
    page = """<script>
      onmousemove = () => { localStorage.setItem("moved", 1); fetch("/moved") };
    </script>"""
    with short_folder() as folder:
        (folder / "serve.py").write_text(SERVE)
        async with page_remote(write_runtime(folder, {"A": page}, begin, place=place)) as remote:
            await remote.play("A", clock="lockstep")
            async with connected(remote.port, PASSWORD, path="/step") as agent:
                for _ in range(3):
                    first = await heard(agent)
                    assert isinstance(first.message, FirstFrame)
                    assert first.message.text == "seed 0"
                    step = {"n": 1, "events": [["PointerEvent", 40, 40, 0]]}
                    await agent.send("v0.agent.step", step, episode_id=str(first.headers.episode_id))
                    assert isinstance((await heard(agent)).message, StepReply)
                    await remote.play("A", clock="lockstep")


async def test_episode_that_is_asked_for_as_the_next_begins_by_itself_is_begun_in_its_place() -> None:
    place = 'files = "www"\nstart = "{env.page}.html"'
    manifest = MANIFEST + "[spaces]\nsubmit = true\n"
    with short_folder() as folder:
        write_runtime(folder, {"A": ""}, 'begin = "game.begin(pluriverse.seed)"', place=place, manifest=manifest)
        async with page_remote(folder) as remote:
            await remote.play("A", clock="lockstep")
            async with connected(remote.port, PASSWORD, path="/step") as agent:
                episode = (await heard(agent)).headers.episode_id
                for seed in range(8):
                    await agent.send("v0.agent.step", {"n": 1, "events": [["SubmitEvent"]]}, episode_id=str(episode))
                    ended = (await heard(agent)).message
                    assert isinstance(ended, StepReply)
                    assert ended.terminated
                    played = await remote.play("A", seed=seed, clock="lockstep")
                    while (episode := (first := await heard(agent)).headers.episode_id) != int(played):
                        assert isinstance(first.message, FirstFrame)
                    assert isinstance(first.message, FirstFrame)
                    assert first.message.text == f"seed {seed}"


@pytest.mark.slow
async def test_page_that_hangs_in_a_step_is_replaced() -> None:
    with short_folder() as folder:
        async with page_remote(write_runtime(folder, {"Hangs": BEGINS + HANGS})) as remote:
            await remote.play("Hangs", clock="lockstep")
            async with connected(remote.port, PASSWORD, path="/step?size=20,30&grey=1") as agent:
                before = await heard(agent)
                refused = await ask(agent, before, "h")
                assert isinstance(refused, ErrorReply)
                assert "the step failed" in refused.message
                assert "without a pause" in await remote.truncated()
                after = await heard(agent)
                assert after.headers.episode_id == (before.headers.episode_id or 0) + 1
                answer = await ask(agent, after, "a")
                assert isinstance(answer, StepReply)
                assert (answer.n, answer.reward) == (1, 1.0)
