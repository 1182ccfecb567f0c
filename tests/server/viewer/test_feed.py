import asyncio
import json
import time
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import WSMsgType
from pluriverse_server.viewer import feed
from support.viewer_remote import Remote

pytestmark = [pytest.mark.display, pytest.mark.asyncio(loop_scope="module")]

WebSocket = aiohttp.ClientWebSocketResponse[Any]


@pytest_asyncio.fixture(loop_scope="module")
async def socket(remote: Remote, session: aiohttp.ClientSession) -> AsyncGenerator[WebSocket]:
    async with session.ws_connect(remote.url("state?password=sesame"), max_msg_size=0) as websocket:
        yield websocket


async def test_snapshots_come_by_themselves_and_follow_the_state(remote: Remote, socket: WebSocket) -> None:
    first = await socket.receive_json(timeout=60)
    assert (first["env_id"], first["episode_reward"], first["viewers"]) == ("gym-core.Pong-v3", 3.0, 0)
    assert abs(first["now"] - time.time()) < 60
    remote.state["episode_reward"] = 4.0
    while (await socket.receive_json(timeout=60))["episode_reward"] != 4.0:
        pass


async def test_a_change_is_sent_without_waiting_for_the_interval(
    remote: Remote, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "INTERVAL_S", 3600.0)
    async with session.ws_connect(remote.url("state?password=sesame")) as websocket:
        await websocket.receive_json(timeout=60)
        remote.state["env_state"] = "resetting"
        remote.sessions.changed()
        assert (await websocket.receive_json(timeout=60))["env_state"] == "resetting"


async def test_ping_is_answered_with_the_clock(socket: WebSocket) -> None:
    await socket.send_str(json.dumps({"ping": 1234.5}))
    while "pong" not in (answer := await socket.receive_json(timeout=60)):
        pass
    assert answer["pong"] == 1234.5
    assert abs(answer["now"] - time.time()) < 60


@pytest.mark.parametrize("text", ["{}", '{"ping": true}', '{"ping": NaN}', "[" * 200])
async def test_anything_else_than_a_ping_ends_the_feed(socket: WebSocket, text: str) -> None:
    await socket.send_str(text)
    while (message := await socket.receive(timeout=60)).type is WSMsgType.TEXT:
        pass
    assert message.type is WSMsgType.CLOSE
    assert message.data == aiohttp.WSCloseCode.POLICY_VIOLATION


async def test_browser_that_does_not_read_gets_no_pile_of_old_snapshots(
    remote: Remote, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "INTERVAL_S", 0.001)
    remote.state["padding"] = "x" * 2**20
    changes = 300  # MiB: more than the buffers between two sockets hold
    async with session.ws_connect(remote.url("state?password=sesame"), max_msg_size=0) as websocket:
        for change in range(changes):
            remote.state["change"] = change
            remote.sessions.changed()
            await asyncio.sleep(0.001)
        assert remote.snapshots < changes
        # Once it reads again, it soon has the news.
        while (await websocket.receive_json(timeout=60)).get("change") != changes - 1:
            pass
