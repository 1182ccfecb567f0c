import shlex
import sys
from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse_eval.agents import AgentFailed
from pluriverse_eval.agents.mcp_client import McpAgent
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from support.evaluated import task

pytestmark = pytest.mark.display

PAUSED, LIVE_LATE = parse_modes("paused,live+100")

PROGRAM = """
import asyncio, os, sys, httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    environment, calls = os.environ, int(sys.argv[1])
    assert environment["PLURIVERSE_TASK"] == "Return the ball."
    handle = environment["PLURIVERSE_HANDLE"]
    headers = {"Authorization": "Bearer " + environment["PLURIVERSE_TOKEN"]}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(environment["PLURIVERSE_MCP_URL"], http_client=http)) as client,
    ):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert "begin_episode" not in tools and "act_for" in tools, tools
        await client.call_tool("look", {"handle": handle})
        for _ in range(calls):
            result = await client.call_tool("press_keys", {"handle": handle, "keys": "Up", "seconds": 0.2})
            if result.is_error or result.structured_content["over"]:
                break

asyncio.run(main())
"""


@pytest.fixture
def paused(play: Play) -> Play:
    play.task = task(seconds=2)
    return play


def command(folder: Path, *words: str, program: str = PROGRAM) -> str:
    path = folder / "client.py"
    path.write_text(program)
    return shlex.join([sys.executable, str(path), *words])


def test_client_plays_an_episode_to_its_end(paused: Play, tmp_path: Path) -> None:
    agent = McpAgent(command(tmp_path, "100"))
    paused.start(0, PAUSED)
    agent.play(paused)
    assert paused.ended == "budget"
    assert len(paused.reactions_ms) == 10


@pytest.mark.slow
def test_client_of_a_running_game_is_late_as_asked_and_ended_with_the_episode(tmp_path: Path) -> None:
    agent = McpAgent(command(tmp_path, "100000"))
    with Play(task(seconds=10), LIVE_LATE, "local:1") as play:
        play.start(0, LIVE_LATE)
        agent.play(play)
        assert play.ended == "budget"
        assert play.reactions_ms
        assert min(play.reactions_ms) >= 100


def test_client_that_fails_fails_its_episode(paused: Play, tmp_path: Path) -> None:
    paused.start(0, PAUSED)
    with pytest.raises(AgentFailed, match="status 3"):
        McpAgent(command(tmp_path, program="raise SystemExit(3)")).play(paused)
    with pytest.raises(AgentFailed, match="can't be started"):
        McpAgent("/nowhere/agent").play(paused)
    with pytest.raises(ConfigurationError, match="--agent mcp"):
        McpAgent("'unclosed")
