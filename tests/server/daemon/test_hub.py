"""All connections together: who is the agent, who watches, and when they are hung up on."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from pluriverse_protocol.reports import Reward
from pluriverse_server.daemon.hub import MAX_CONNECTIONS
from support.served import serving
from support.waiting import eventually


async def test_second_agent_is_refused_when_first_has_spoken(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as first, served.agent() as second:
        await first.assert_alive()
        await second.send("v0.control.ping", {})
        assert await second.hear_end() == 1000
        assert second.heard[-1]["method"] == "v0.connection.close"
        assert "another agent" in second.heard[-1]["body"]["message"]
        await first.assert_alive()


async def test_connection_that_says_nothing_does_not_count_as_the_agent(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as silent, served.agent() as speaker:
        await silent.hear()
        await speaker.assert_alive()
        assert served.service.status()["agents"] == 1


async def test_agent_that_leaves_makes_room_for_the_next(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        for _ in range(3):
            async with served.agent() as agent:
                await agent.assert_alive()
            await eventually(lambda: served.service.hub.agent is None)


async def test_observer_hears_everything_and_may_ping_but_not_act(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent(observer=True) as observer:
        process = await served.running()
        process.report(Reward(1, 2.5))
        await observer.hear_method("v0.env.reward", reward=2.5)
        assert (await observer.hear_reply(await observer.send("v0.control.ping", {})))[
            "method"
        ] == "v0.reply.control.ping"
        for message_id in (
            await observer.reset("toy.Second-v0"),
            await observer.send("v0.agent.action", {"action": []}),
        ):
            reply = await observer.hear_reply(message_id)
            assert reply["method"] == "v0.reply.error"
            assert "not permitted" in reply["body"]["message"]
        assert served.service.status()["agents"] == 0
        assert served.service.status()["env_id"] == "toy.First-v0"


async def test_silent_agent_is_hung_up_on_after_the_idle_time_limit(tmp_path: Path) -> None:
    async with serving(tmp_path, idle_timeout_s=0.5) as served, served.agent() as agent:
        await agent.send("v0.control.ping", {})
        assert await agent.hear_end() == 1000
        assert "idle time limit" in agent.heard[-1]["body"]["message"]


async def test_agent_is_hung_up_on_after_the_session_time_limit_however_busy(tmp_path: Path) -> None:
    async with serving(tmp_path, session_timeout_s=1.0) as served, served.agent() as agent:

        async def keep_busy() -> None:
            while True:
                await agent.send("v0.control.ping", {})
                await asyncio.sleep(0.05)

        busy = asyncio.create_task(keep_busy())
        assert await agent.hear_end() == 1000
        busy.cancel()
        await asyncio.gather(busy, return_exceptions=True)
        assert "session time limit" in agent.heard[-1]["body"]["message"]


async def test_observer_has_no_time_limits(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, idle_timeout_s=0.3, session_timeout_s=0.3) as served,
        served.agent(observer=True) as observer,
        served.agent() as agent,
    ):
        await agent.send("v0.control.ping", {})
        await agent.hear_end()
        assert (await observer.hear_reply(await observer.send("v0.control.ping", {})))[
            "method"
        ] == "v0.reply.control.ping"


async def test_connection_over_the_limit_is_told_so_and_the_others_never_notice(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, contextlib.AsyncExitStack() as stack:
        agents = [await stack.enter_async_context(served.agent(observer=True)) for _ in range(MAX_CONNECTIONS)]
        for agent in agents:
            await agent.hear()
        async with served.agent(observer=True) as surplus:
            await surplus.hear_end()
            assert [message["method"] for message in surplus.heard] == ["v0.connection.close"]
        for agent in agents:
            assert (await agent.hear_reply(await agent.send("v0.control.ping", {})))[
                "method"
            ] == "v0.reply.control.ping"


async def test_all_connections_are_told_when_the_remote_stops(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as agent, served.agent(observer=True) as observer:
        await agent.assert_alive()
        stopping = asyncio.create_task(served.service.hub.stop("going home"))
        for connection in (agent, observer):
            assert await connection.hear_end() == 1000
            assert connection.heard[-1]["body"] == {"message": "going home"}
        await stopping
