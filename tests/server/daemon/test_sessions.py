"""All connections together: who is the agent, who watches, and when they are hung up on."""

import asyncio
import contextlib
from pathlib import Path

import pytest
from pluriverse_protocol.reports import Reward
from pluriverse_server.daemon import sessions as module
from pluriverse_server.daemon.sessions import MAX_CONNECTIONS
from support.agent import connected
from support.served import Served, serving
from support.waiting import eventually


async def test_second_agent_is_refused_when_first_has_spoken(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as first, served.agent() as second:
        await first.assert_alive()
        await second.send("v0.control.ping", {})
        assert await second.hear_end() == 1000
        assert second.heard[-1]["method"] == "v0.connection.close"
        assert "another agent" in second.heard[-1]["body"]["message"]
        await first.assert_alive()


async def test_observer_hears_everything_and_may_ping_but_not_act(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent(observer=True) as observer:
        process = await served.running()
        process.report(Reward(1, 2.5))
        await observer.hear_method("v0.env.reward", reward=2.5)
        await observer.assert_alive()
        for message_id in (
            await observer.reset("toy.Second-v0"),
            await observer.send("v0.agent.action", {"action": []}),
        ):
            reply = await observer.hear_reply(message_id)
            assert reply["method"] == "v0.reply.error"
            assert "not permitted" in reply["body"]["message"]
        assert served.service.status()["agents"] == 0
        assert served.service.status()["env_id"] == "toy.First-v0"


async def test_connection_over_the_limit_is_told_so_and_the_others_never_notice(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, contextlib.AsyncExitStack() as stack:
        agents = [await stack.enter_async_context(served.agent(observer=True)) for _ in range(MAX_CONNECTIONS)]
        for agent in agents:
            await agent.hear()
        async with served.agent(observer=True) as surplus:
            await surplus.hear_end()
            assert [message["method"] for message in surplus.heard] == ["v0.connection.close"]
        for agent in agents:
            await agent.assert_alive()


async def test_all_connections_are_told_when_the_remote_stops(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as agent, served.agent(observer=True) as observer:
        await agent.assert_alive()
        stopping = asyncio.create_task(served.service.sessions.stop("going home"))
        for connection in (agent, observer):
            assert await connection.hear_end() == 1000
            assert connection.heard[-1]["body"] == {"message": "going home"}
        await stopping


# ── seats of agents that come back ───────────────────────────────────────────────────────────────────────────────────


async def broken(served: Served) -> None:
    await eventually(lambda: served.service.sessions.agent is None)


async def test_agent_that_comes_back_hears_what_it_missed_and_nothing_twice(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        process = await served.running()
        async with served.agent(token="mine") as agent:
            assert agent.seat == "new"
            assert served.service.status()["agents"] == 1
            process.report(Reward(1, 1.0))
            last = await agent.hear_method("v0.env.reward", reward=1.0)
            agent.cut()
            await broken(served)
        process.report(Reward(1, 2.0))
        async with served.agent(token="mine", last_number=last["headers"]["number"]) as agent:
            assert agent.seat == "resumed"
            process.report(Reward(1, 4.0))
            await agent.hear_method("v0.env.reward", reward=4.0)
            assert [message["body"]["reward"] for message in agent.heard if message["body"]["reward"]] == [2.0, 4.0]
            numbers = [message["headers"]["number"] for message in agent.heard]
            assert numbers == list(range(last["headers"]["number"] + 1, numbers[-1] + 1))


async def test_agent_that_comes_back_never_waits_for_those_who_guess_at_its_address(tmp_path: Path) -> None:
    mine = "a-token-that-nobody-guesses"
    async with serving(tmp_path) as served:
        async with served.agent(token=mine) as agent:
            last = await agent.hear_method("v0.env.describe")
            agent.cut()
            await broken(served)
        for _ in range(40):
            served.http_auth.throttle.judged("127.0.0.1", right=False, now=asyncio.get_running_loop().time() + 3600)
        async with served.agent(token=mine, last_number=last["headers"]["number"]) as agent:
            assert agent.seat == "resumed"
        async with served.agent(token="anothers-that-is-long") as agent:
            await agent.hear_end()
            assert "password" in agent.heard[-1]["body"]["message"]


async def test_agent_takes_its_seat_over_from_a_line_that_only_seems_to_hold(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent(token="mine") as before:
        process = await served.running()
        await before.hear_method("v0.env.describe", env_state="running")
        process.report(Reward(1, 1.0))
        last = await before.hear_method("v0.env.reward", reward=1.0)
        async with served.agent(token="mine", last_number=last["headers"]["number"] - 1) as after:
            assert after.seat == "resumed"
            await after.hear_method("v0.env.reward", reward=1.0)
            await before.hear_end()
            assert "v0.connection.close" not in before.methods()
            await after.assert_alive()
            assert served.service.status()["agents"] == 1


async def test_reset_that_is_asked_again_is_granted_again_and_not_done_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.running()
        async with served.agent(token="mine") as agent:
            await agent.reset("toy.First-v0", seed=3)
            await agent.hear_method("v0.reply.env.reset")
            agent.cut()
        async with served.agent(token="mine", last_number=1) as agent:
            message_id = await agent.reset("toy.First-v0", seed=3)
            assert (await agent.hear_reply(message_id))["headers"]["episode_id"] == "2"
        assert served.service.status()["episode_id"] == "2"


async def test_seat_is_kept_for_a_while_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEAT_KEPT_S", 0.1)
    monkeypatch.setattr(module, "PATROL_S", 0.02)
    async with serving(tmp_path) as served:
        async with served.agent(token="mine") as agent:
            await agent.hear()
            agent.cut()
            await broken(served)
        await asyncio.sleep(0.3)
        async with served.agent(token="mine", last_number=1) as agent:
            assert agent.seat == "new"
            assert (await agent.hear())["method"] == "v0.env.describe"


async def test_seat_of_an_agent_whose_line_holds_is_nobody_elses(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent(token="mine") as agent:
        await agent.hear()
        async with served.agent(token="another's", last_number=0) as other:
            assert other.seat == "new"
            assert await other.hear_end() == 1000
            assert "another agent" in other.heard[-1]["body"]["message"]
        await agent.assert_alive()


async def test_agent_takes_another_over_with_the_password_and_not_with_an_agents_token(tmp_path: Path) -> None:
    async with serving(tmp_path, tokens="agent trainer Ieth7aepaeyahsh4") as served:
        async with served.agent(token="mine") as first:
            await first.hear()
            async with connected(served.port, "Ieth7aepaeyahsh4", token="other", take_over=True) as other:
                assert await other.hear_end() == 1000
                assert "another agent plays it" in other.heard[-1]["body"]["message"]
            async with served.agent(token="other", take_over=True) as second:
                assert (await second.hear())["method"] == "v0.env.describe"
                assert await first.hear_end() == 1000
                assert "taken this remote over" in first.heard[-1]["body"]["message"]
                await second.assert_alive()
        async with served.agent(token="mine", last_number=1) as first:
            assert first.seat == "new"


async def test_agent_that_says_that_it_leaves_keeps_no_seat(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        async with served.agent(token="mine") as agent:
            await agent.hear()
        await broken(served)
        async with served.agent(token="mine", last_number=1) as agent:
            assert agent.seat == "new"
