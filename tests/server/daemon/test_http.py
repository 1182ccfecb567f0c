"""The rewarder port: authentication, health, metrics, and what isn't a WebSocket."""

from __future__ import annotations

import asyncio
import base64
import socket
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from pluriverse_server.daemon.http import listen
from pluriverse_server.process import StartError
from support.agent import connected
from support.served import PASSWORD, serving


@pytest.mark.parametrize("password", [None, "wrong", "", "sEcret12"])
async def test_wrong_password_gets_a_close_message_over_a_completed_handshake(
    tmp_path: Path, password: str | None
) -> None:
    async with serving(tmp_path) as served, connected(served.port, password) as agent:
        # The code that agents know from the rewarder's first days.
        assert await agent.hear_end() == 1000
        assert [message["method"] for message in agent.heard] == ["v0.connection.close"]
        assert "password" in agent.heard[0]["body"]["message"]


@pytest.mark.parametrize("userinfo", [f"{PASSWORD}:", f"openai:{PASSWORD}", f":{PASSWORD}"])
async def test_password_is_accepted_in_either_field(tmp_path: Path, userinfo: str) -> None:
    header = "Basic " + base64.b64encode(userinfo.encode()).decode()
    async with serving(tmp_path) as served, aiohttp.ClientSession() as session:
        url = f"ws://127.0.0.1:{served.port}/"
        async with session.ws_connect(url, headers={"Authorization": header}) as websocket:
            assert (await websocket.receive_json())["method"] == "v0.env.describe"


@pytest.mark.parametrize("path", ["/", "/v1", "/any/path?at=all"])
async def test_rewarder_answers_on_any_path(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as served, served.agent(path=path) as agent:
        assert (await agent.hear())["method"] == "v0.env.describe"


async def test_healthz_is_alive_and_readyz_only_while_an_environment_runs(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, aiohttp.ClientSession(f"http://127.0.0.1:{served.port}") as session:
        async with session.get("/healthz") as response:
            assert (response.status, await response.json()) == (200, {"status": "alive"})
        async with session.get("/readyz") as response:
            assert response.status == 503
            assert (await response.json())["env_state"] == "resetting"
        await served.running()
        async with session.get("/readyz") as response:
            assert response.status == 200
            assert (await response.json()) == {
                "ready": True,
                "env_id": "toy.First-v0",
                "env_state": "running",
                "episode_id": "1",
            }


async def test_metrics_are_prometheus_text_with_our_prefix_and_units(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, aiohttp.ClientSession() as session, served.agent() as agent:
        await served.running()
        await agent.assert_alive()
        async with session.get(f"http://127.0.0.1:{served.port}/metrics") as response:
            assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            lines = (await response.text()).splitlines()
    names = {line.split(" ")[0].split("{")[0] for line in lines if not line.startswith("#")}
    assert all(name.startswith("pluriverse_") for name in names)
    assert 'pluriverse_connections{role="agent"} 1.0' in lines
    assert "pluriverse_running 1.0" in lines
    assert "pluriverse_reset_seconds_count" in names


async def test_plain_request_is_told_what_this_port_is(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{served.port}/") as response:
            assert response.status == 426
            assert "/viewer/" in (await response.json())["error"]
        async with session.get(f"http://127.0.0.1:{served.port}/nothing") as response:
            assert response.status == 404


async def test_connections_without_a_byte_are_no_news(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(tmp_path) as served:
        for _ in range(20):
            socket.create_connection(("127.0.0.1", served.port)).close()
        async with served.agent() as agent:
            await agent.assert_alive()
        assert not [record for record in caplog.records if record.levelname not in ("DEBUG", "INFO")]


async def test_a_thousand_connections_that_say_nothing_keep_nobody_out(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        idle = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(1000)]
        async with served.agent() as agent:
            assert (await agent.hear_reply(await agent.send("v0.control.ping", {})))[
                "method"
            ] == "v0.reply.control.ping"
        for _, writer in idle:
            writer.close()


async def test_port_that_is_taken_is_named(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        with pytest.raises(StartError, match=str(served.port)):
            await listen(web.Application(), "127.0.0.1", served.port)
