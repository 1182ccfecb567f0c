"""The rewarder port: authentication, health, metrics, and what isn't a WebSocket."""

import asyncio
import contextlib
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import pytest
from pluriverse_server.daemon.http_auth import MAX_PENDING
from pluriverse_server.kit import views
from pluriverse_server.sound import SoundFile
from support.agent import Agent, connected
from support.served import PASSWORD, Served, playing, serving
from support.toy import Process
from support.waiting import eventually
from websockets.exceptions import InvalidStatus

HEALTHCHECK = Path(__file__).parents[3] / "tools" / "healthcheck"


@pytest.mark.parametrize("password", [None, "wrong", "", "sEcret12"])
async def test_wrong_password_gets_a_close_message_over_a_completed_handshake(
    tmp_path: Path, password: str | None
) -> None:
    async with serving(tmp_path) as served, connected(served.port, password) as agent:
        # The code that agents know from the rewarder's first days.
        assert await agent.hear_end() == 1000
        assert [message["method"] for message in agent.heard] == ["v0.connection.close"]
        assert "password" in agent.heard[0]["body"]["message"]


async def test_page_gives_password_and_token_in_the_address(tmp_path: Path) -> None:
    query = f"?password={PASSWORD}&pluriverse-agent=mine"
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served:
        async with connected(served.port, None, path=f"/{query}") as agent:
            await begin_lockstep(agent, await served.running())
            async with connected(served.port, None, path=f"/step{query}") as step_channel:
                assert await step_channel.socket.recv() == b"taken"
        async with connected(served.port, None, path="/?password=wrong") as agent:
            assert await agent.hear_end() == 1000


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
                "phase": "idle",
                "leased": False,
                "screen": True,
                "env_id": "toy.First-v0",
                "env_state": "running",
                "episode_id": "1",
            }
        served.screen_answers = False
        async with session.get("/readyz") as response:
            document = await response.json()
        assert (response.status, document["ready"], document["screen"]) == (503, False, False)


# ── step channels ─────────────────────────────────────────────────────────────────────────────────────────────────

BOTH_CLOCKS = {"clock": '["realtime", "lockstep"]'}
TAKES_STEP_CHANNELS = {**BOTH_CLOCKS, "step_channels": True}


async def begin_lockstep(agent: Agent, process: Process) -> None:
    await agent.reset("toy.First-v0", clock="lockstep")
    await process.begin()
    await agent.hear_method("v0.env.describe", env_state="running", clock="lockstep")


async def refusal(
    served: Served, path: str = "/step", password: str | None = PASSWORD, **options: Any
) -> tuple[int, str]:
    """The status of a refused handshake, and what is said of it."""
    with pytest.raises(InvalidStatus) as refused:
        async with connected(served.port, password, path=path, **options):
            pass
    response = refused.value.response
    text = bytes(response.body or b"").decode()
    return response.status_code, json.loads(text)["error"] if text.startswith("{") else text


@pytest.mark.parametrize("token", [None, "an agent's own"])
async def test_step_channel_of_the_agent_goes_to_the_program_which_alone_speaks_on_it(
    tmp_path: Path, token: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served, served.agent(token=token) as agent:
        await begin_lockstep(agent, await served.running())
        for _ in range(2):
            async with served.agent(path="/step", token=token) as step_channel:
                assert await step_channel.socket.recv() == b"taken"
                # The daemon has forgotten it.
                await eventually(lambda: len(served.http_auth.table) == 1)
                await step_channel.socket.send("anything")
                assert await step_channel.socket.recv() == b"heard"
                assert await step_channel.hear_end() is None
        await agent.assert_alive()
    assert not [record.message for record in caplog.records if record.levelname not in ("DEBUG", "INFO")]


@pytest.mark.parametrize("password", [None, "wrong"])
async def test_step_channel_needs_the_password(tmp_path: Path, password: str | None) -> None:
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served, served.agent() as agent:
        await begin_lockstep(agent, await served.running())
        status, said = await refusal(served, password=password)
        assert status == 401
        assert "password" in said


async def test_step_channel_is_the_agents_alone(tmp_path: Path) -> None:
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served:
        process = await served.running()
        assert await refusal(served) == (403, "only the remote's agent takes steps; connect, and send a reset first")
        async with served.agent(token="the agent's") as agent:
            await begin_lockstep(agent, process)
            for token in (None, "another's"):
                assert (await refusal(served, token=token))[0] == 403
            await agent.assert_alive()


@pytest.mark.parametrize("token", [None, "an agent's own"])
async def test_agent_that_goes_takes_its_step_channel_along(tmp_path: Path, token: str | None) -> None:
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served, contextlib.AsyncExitStack() as stack:
        agent = await stack.enter_async_context(served.agent(token=token))
        await begin_lockstep(agent, await served.running())
        step_channel = await stack.enter_async_context(served.agent(path="/step", token=token))
        assert await step_channel.socket.recv() == b"taken"
        await agent.socket.close()
        assert await step_channel.hear_end() is None


async def test_step_channel_stays_with_an_agent_whose_line_broke_as_long_as_its_seat(tmp_path: Path) -> None:
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served, contextlib.AsyncExitStack() as stack:
        agent = await stack.enter_async_context(served.agent(token="mine"))
        await begin_lockstep(agent, await served.running())
        for end in ("comes back", "is another's"):
            step_channel = await stack.enter_async_context(served.agent(path="/step", token="mine"))
            assert await step_channel.socket.recv() == b"taken"
            agent.cut()
            await eventually(lambda: served.service.sessions.agent is None)
            if end == "comes back":
                agent = await stack.enter_async_context(served.agent(token="mine", last_number=1))
                assert agent.seat == "resumed"
                await step_channel.socket.send("anything")
                assert await step_channel.socket.recv() == b"heard"
            else:
                await stack.enter_async_context(served.agent(token="another's"))
                assert await step_channel.hear_end() is None


async def test_agent_that_loses_its_seat_while_its_step_channel_is_opened_gets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served, served.agent() as agent:
        await begin_lockstep(agent, await served.running())
        answers = iter((True, False))
        monkeypatch.setattr(served.service.sessions, "is_agent", lambda *_: next(answers))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        async with served.agent(path="/step") as step_channel:
            assert await step_channel.hear_end() is None


@pytest.mark.parametrize(
    ("query", "options", "status", "error"),
    [
        ("", {"clock": BOTH_CLOCKS["clock"]}, 409, "the program isn't running yet; wait until the episode runs"),
        ("slot=1", TAKES_STEP_CHANNELS, 409, "unknown slot 1; expected 0 to 0"),
        ("slot=-1", TAKES_STEP_CHANNELS, 400, "the slot is '-1'; expected a number"),
        (
            "size=84",
            TAKES_STEP_CHANNELS,
            400,
            "size is '84'; expected height, width in pixels, each at most 4096, and sides",
        ),
        ("size=4097,1", TAKES_STEP_CHANNELS, 400, "size is '4097,1'"),
        ("crop=-1,0,10,10", TAKES_STEP_CHANNELS, 400, "crop is '-1,0,10,10'; expected x, y, width, height in pixels"),
        ("grey=yes", TAKES_STEP_CHANNELS, 400, "grey is 'yes'; expected 0 or 1"),
    ],
)
async def test_step_channel_that_cannot_be_is_refused_with_the_reason(
    tmp_path: Path, query: str, options: dict[str, Any], status: int, error: str
) -> None:
    async with playing(tmp_path, toy_options=options) as (served, agent, process):
        await agent.assert_alive()
        in_real_time = 'the episode is in real time; begin one with v0.env.reset and "clock": "lockstep"'
        assert await refusal(served) == (409, in_real_time)
        await begin_lockstep(agent, process)
        code, said = await refusal(served, f"/step?{query}")
        assert (code, said[: len(error)]) == (status, error)


async def test_view_of_a_remote_that_makes_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "available", lambda: False)
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served, served.agent() as agent:
        await begin_lockstep(agent, await served.running())
        alone = "this remote only sends whole pictures; its description has no views"
        assert await refusal(served, "/step?grey=1") == (409, alone)
        async with served.agent(path="/step?grey=0") as step_channel:
            assert await step_channel.socket.recv() == b"taken"


async def test_page_of_another_site_is_kept_from_the_rewarder_and_from_step_channels(tmp_path: Path) -> None:
    async with serving(tmp_path, toy_options=TAKES_STEP_CHANNELS) as served:
        own = f"http://127.0.0.1:{served.port}"
        for path in ("/", "/step"):
            said = (403, "only the remote's own pages may connect from a browser")
            assert await refusal(served, path, origin="http://elsewhere.example") == said
        async with served.agent(path="/any/path?at=all", origin=own) as agent:
            await begin_lockstep(agent, await served.running())
            async with served.agent(path="/step", origin=own) as step_channel:
                assert await step_channel.socket.recv() == b"taken"


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


async def test_browser_is_led_to_the_viewer_and_an_agent_is_not(tmp_path: Path) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    async with serving(tmp_path) as served, aiohttp.ClientSession() as session:
        address = f"http://127.0.0.1:{served.port}/"
        async with session.get(f"{address}?password=sesame", headers=browser, allow_redirects=False) as response:
            assert (response.status, response.headers["Location"]) == (308, "viewer/")
        async with session.get(address, headers={**browser, "Upgrade": "other"}, allow_redirects=False) as response:
            assert response.status == 426
        async with served.agent() as agent:
            await agent.assert_alive()


async def test_connections_without_a_byte_are_no_news(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(tmp_path) as served:
        for _ in range(20):
            socket.create_connection(("127.0.0.1", served.port)).close()
        async with served.agent() as agent:
            await agent.assert_alive()
        assert not [record for record in caplog.records if record.levelname not in ("DEBUG", "INFO")]


async def test_idle_connections_keep_nobody_out_and_are_bounded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as served, served.agent() as first:
        await first.assert_alive()
        idle = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(3 * MAX_PENDING)]
        async with served.agent(observer=True) as agent:
            await agent.assert_alive()
        assert len(served.http_auth.table) <= MAX_PENDING + 2
        assert served.http_auth.table.dropped > MAX_PENDING
        await first.assert_alive()
        for _, writer in idle:
            writer.close()
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == ["rewarder port: 1 connections without the password were dropped, last for 127.0.0.1"]


async def test_wrong_passwords_are_slowed_down_and_counted(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, aiohttp.ClientSession(f"http://127.0.0.1:{served.port}") as session:
        began = time.monotonic()
        for _ in range(2):
            async with session.get("/viewer/access?password=wrong") as response:
                assert await response.json() == {"granted": False, "control": False}
            async with connected(served.port, "wrong") as agent:
                await agent.hear_end()
        assert time.monotonic() - began > 0.25 + 0.5 + 1
        assert served.http_auth.throttle.wrong == 4


@pytest.mark.parametrize(("host", "tls"), [("0.0.0.0", False), ("127.0.0.2", True), ("::", True), ("::1", False)])
async def test_images_health_check_reaches_whichever_address_is_listened_on(
    tmp_path: Path, host: str, tls: bool
) -> None:
    async with serving(tmp_path, host=host, tls=tls) as served:
        env = {"PATH": os.environ["PATH"], "PLURIVERSE_HOST": host, "PLURIVERSE_REWARDER_PORT": str(served.port)}

        async def says() -> int:
            # Images have a copy of it that can't be read.
            process = await asyncio.create_subprocess_exec("bash", str(HEALTHCHECK), env=env)
            return await process.wait()

        assert await says() == 1
        await served.running()
        assert await says() == 0


async def test_what_is_played_is_sent_to_who_listens_and_may_watch(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, aiohttp.ClientSession(f"http://127.0.0.1:{served.port}") as session:
        with pytest.raises(aiohttp.WSServerHandshakeError, match="401"):
            await session.ws_connect("/sound")
        address = f"/sound?password={PASSWORD}"
        async with session.ws_connect(address) as deaf:
            assert (await deaf.receive(timeout=60)).extra == "this remote plays nothing"
        async with contextlib.AsyncExitStack() as stack:
            file = stack.enter_context(contextlib.closing(SoundFile.make(tmp_path / "sound")))
            listening = await stack.enter_async_context(session.ws_connect(address))
            heard: aiohttp.WSMessage | None = None
            while heard is None:
                # It may not have come to listen yet.
                file.put(np.full((100, 2), -7, np.int16))
                with contextlib.suppress(TimeoutError):
                    heard = await listening.receive(timeout=0.05)
            assert set(np.frombuffer(heard.data, "<i2").tolist()) == {-7}
            await listening.send_str("louder")
            while (message := await listening.receive(timeout=60)).type is aiohttp.WSMsgType.BINARY:
                pass
            assert message.data == aiohttp.WSCloseCode.POLICY_VIOLATION
