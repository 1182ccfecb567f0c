"""A scraped program in a whole remote, from the agent's end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pluriverse_server.remote import Remote
from pluriverse_server.settings import DisplayBackend, Settings
from pluriverse_server.spaces import keysym
from support.agent import connected
from support.leftovers import Leftovers
from support.ports import free_port
from support.scraped import ENV, write_runtime
from support.waiting import eventually

PASSWORD = "secret12"


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_agent_is_told_what_the_screen_says(tmp_path: Path, backend: DisplayBackend) -> None:
    leftovers = Leftovers()
    write_runtime(tmp_path)
    port = free_port()
    remote = Remote(
        Settings(tmp_path, vnc_port=free_port(), rewarder_port=port, password=PASSWORD, display_backend=backend)
    )
    started = asyncio.Event()
    running = asyncio.create_task(remote.run(lambda _: started.set()))
    try:
        await asyncio.wait_for(started.wait(), 20)
        async with connected(port, PASSWORD) as agent:
            await agent.hear_method("v0.env.describe", env_id=ENV, env_state="running")
            await agent.press(keysym("Right"))
            reward = await agent.hear_until(lambda m: m["method"] == "v0.env.reward" and m["body"]["reward"] != 0)
            assert reward["body"]["reward"] == pytest.approx(1)
            assert reward["headers"]["sent_at"] >= reward["body"]["frame_at"]
            await eventually(lambda: remote.status()["readings"]["score"]["value"] == pytest.approx(0.05))
            status = remote.status()
            assert status["readings"]["score"]["region"] == [0, 40, 200, 10]
            assert [given["at"] for given in status["rewards"]] == [reward["body"]["frame_at"]]
            await agent.press(keysym("x"))
            done = await agent.hear_method("v0.env.reward", done=True)
            assert (done["body"]["terminated"], done["body"]["info"]["reason"]) == (True, "lost")
            await agent.hear_method("v0.env.describe", env_id=ENV, env_state="running")
    finally:
        remote.stop()
        await asyncio.gather(running, return_exceptions=True)
    leftovers.assert_none()
