"""One connection: requests and their replies, bad input, slow readers."""

import asyncio
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from pluriverse_protocol import messages
from pluriverse_protocol.limits import MAX_MESSAGE_BYTES
from pluriverse_protocol.reports import Joystick, Observation, Ready, Reward
from pluriverse_server.daemon.http import MAX_FRAME_BYTES
from support.agent import credentials
from support.served import PASSWORD, Served, serving
from support.waiting import eventually


async def test_first_message_describes_the_environment_and_the_remote(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as agent:
        first = await agent.hear()
        assert (first["method"], first["headers"]["episode_id"]) == ("v0.env.describe", "1")
        body = first["body"]
        assert (body["env_id"], body["env_state"], body["fps"]) == ("toy.First-v0", "resetting", 50.0)
        assert (body["runtime"], body["runtime_version"]) == ("toy", "1.2.3")
        assert (body["width"], body["height"], body["clock"]) == (320, 200, "realtime")
        assert body["metadata_encoding"] == {"type": "pixels", "x": 300, "y": 10}
        assert "seed" in body["capabilities"]


@pytest.mark.parametrize("message_id", [0, 17, "17", "an agent's own"])
async def test_ping_is_answered_with_four_timestamps_and_the_id_as_it_came(tmp_path: Path, message_id: Any) -> None:
    async with serving(tmp_path) as served, served.agent() as agent:
        before = time.time()
        await agent.send("v0.control.ping", {}, message_id=message_id)
        headers = (await agent.hear_method("v0.reply.control.ping"))["headers"]
        assert headers["parent_message_id"] == message_id
        assert type(headers["parent_message_id"]) is type(message_id)
        assert before <= headers["received_at"] <= headers["sent_at"] <= time.time()
        assert 0 <= headers["parent_runtime"] < 1


async def test_reset_of_an_unknown_environment_is_refused_with_names_like_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as agent:
        message_id = await agent.reset("toy.Secnd-v0")
        reply = await agent.hear_reply(message_id)
        assert reply["method"] == "v0.reply.error"
        assert "toy.Second-v0" in reply["body"]["message"]
        await agent.assert_alive()


async def test_steps_are_refused_beside_their_step_channel(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as agent:
        await served.running()
        reply = await agent.hear_reply(await agent.send("v0.agent.step", {"n": 1}))
        assert reply["method"] == "v0.reply.error"
        assert reply["body"]["message"] == "steps need their own WebSocket, at /step"
        await agent.assert_alive()


async def test_a_tree_is_refused_where_nobody_can_tell_it_with_the_environments_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as agent:
        described = await agent.hear()
        assert not {"tree", "marks"} & set(described["body"]["capabilities"])
        reply = await agent.hear_reply(await agent.send("v0.env.tree", {}))
        assert reply["body"]["message"] == "no episode is running; a tree needs one"
        await served.running()
        reply = await agent.hear_reply(await agent.send("v0.env.tree", {}))
        assert reply["method"] == "v0.reply.error"
        assert reply["body"]["message"] == "toy.First-v0 has no tree: its program doesn't describe what it draws"
        await agent.assert_alive()


async def test_joystick_events_reach_a_program_that_asks_and_are_undone_when_the_agent_leaves(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as served, served.agent() as agent:
        process = await served.toy.process()
        reset = await process.request_reset()
        process.report(Ready(reset.episode, joystick=True))
        await agent.hear_method("v0.env.describe", env_state="running")
        await agent.send("v0.agent.action", {"action": [["JoystickAxisXEvent", 0.5], ["JoystickAxisZEvent", -1]]})
        assert await process.request() == Joystick("JoystickAxisXEvent", 0.5)
        assert await process.request() == Joystick("JoystickAxisZEvent", -1.0)
        await agent.socket.close()
        assert await process.request() == Joystick("JoystickAxisXEvent", 0.0)
        assert await process.request() == Joystick("JoystickAxisZEvent", 0.0)


BAD_MESSAGES: dict[str, str] = {
    "not JSON": "{",
    "unknown method": '{"method": "v0.env.explode", "headers": {"message_id": 1, "sent_at": 1}, "body": {}}',
    "an event of the wrong type": (
        '{"method": "v0.agent.action", "headers": {"message_id": 1, "sent_at": 1}, '
        '"body": {"action": [["KeyEvent", "a", 1]]}}'
    ),
    "over the limit": '{"method": "' + "x" * MAX_MESSAGE_BYTES + '"}',
}


@pytest.mark.parametrize("text", BAD_MESSAGES.values(), ids=BAD_MESSAGES)
async def test_bad_message_gets_an_error_reply_and_the_connection_lives_on(tmp_path: Path, text: str) -> None:
    async with serving(tmp_path) as served, served.agent() as agent, served.agent(observer=True) as neighbour:
        await agent.socket.send(text)
        reply = await agent.hear_method("v0.reply.error")
        assert reply["body"]["message"]
        await agent.assert_alive()
        await neighbour.assert_alive()


async def test_frame_beyond_all_bounds_closes_only_its_own_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent(observer=True) as neighbour:
        async with served.agent() as agent:
            await agent.socket.send("x" * (MAX_FRAME_BYTES + 1))
            assert await agent.hear_end() == 1009
        await neighbour.assert_alive()


async def read_nothing(served: Served) -> socket.socket:
    """A WebSocket client that shakes hands and never reads again."""
    client = socket.create_connection(("127.0.0.1", served.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\nopenai-observer: true\r\n"
        b"Authorization: " + credentials(PASSWORD).encode() + b"\r\n\r\n"
    )
    await eventually(lambda: served.service.sessions.connections)
    return client


async def test_slow_reader_loses_old_observations_but_no_reward_and_never_holds_up_another(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        process = await served.running()
        slow = await read_nothing(served)
        (slow_connection,) = served.service.sessions.connections
        async with served.agent() as agent:
            total = 2000
            for index in range(total):
                process.report(Observation(1, [index] * 500), Reward(1, 1.0))
                if index % 50 == 0:
                    await asyncio.sleep(0)
            earned = 0.0
            while earned < total:
                message = await agent.hear_method("v0.env.reward")
                earned += message["body"]["reward"]
            assert earned == total
        send_queue = slow_connection.send_queue
        assert send_queue.dropped_observations > 0
        waiting = 0.0
        while (item := send_queue.get()) is not None:
            waiting += item.message.reward if isinstance(item.message, messages.Reward) else 0.0
        assert 0 < waiting <= total
        slow.close()


async def test_agent_that_answers_pings_has_its_round_trip_measured(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as agent:
        await agent.assert_alive()
        await eventually(lambda: served.service.status()["agent_round_trip_ms"] is not None)
        assert 0 <= served.service.status()["agent_round_trip_ms"] < 10_000
