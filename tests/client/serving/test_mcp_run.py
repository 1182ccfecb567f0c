"""The server of the Model Context Protocol from its start to its end, whatever is under way then."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Final

import httpx
import httpx2
import psutil
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pluriverse.serving.mcp_run import MAX_REQUEST_BYTES
from support.leftovers import Leftovers
from support.ports import free_port
from support.remotes import started

pytestmark = [pytest.mark.slow, pytest.mark.display]

PLURIVERSE: Final = str(Path(sys.executable).with_name("pluriverse"))
PONG: Final = "gym-core.PongNoFrameskip-v3"
PLAYING: Final = ["mcp", "--remotes", "local:1", "--env", PONG, "--allow", "begin", "--allow", "act"]
TOKEN: Final = "let-me-in-to-play"

# What a wait that was begun would take, and what the end may, on a busy machine.
WAIT_S: Final = 95
END_S: Final = 60
# Less than an episode in which nobody plays, at whose end a wait ends, too.
FREE_S: Final = 60.0


@contextlib.asynccontextmanager
async def waiting(client: Client) -> AsyncGenerator[str]:
    """A client that has begun an episode, whose handle is yielded, and waits."""
    answer: Any = await client.call_tool("begin_episode", {"environment": PONG})
    handle = answer.structured_content["handle"]
    wait = asyncio.create_task(client.call_tool("wait", {"handle": handle, "seconds": WAIT_S}))
    try:
        # The server has it once it answers what was asked after it.
        await client.list_tools()
        yield handle
    finally:
        wait.cancel()
        with contextlib.suppress(asyncio.CancelledError, MCPError):
            await wait


async def require_free(client: Client, handle: str) -> None:
    async with asyncio.timeout(FREE_S):
        answer: Any = await client.call_tool("wait", {"handle": handle, "seconds": 0})
    assert not answer.is_error, answer.content


async def test_a_client_that_hangs_up_leaves_nothing_though_it_waits() -> None:
    leftovers = Leftovers()
    began = time.monotonic()
    parameters = StdioServerParameters(command=PLURIVERSE, args=PLAYING)
    async with Client(stdio_client(parameters)) as client, waiting(client):
        pass
    leftovers.assert_none(END_S)
    assert time.monotonic() - began < WAIT_S


async def test_ctrl_c_ends_the_server_though_a_client_waits() -> None:
    leftovers = Leftovers()
    where = f"127.0.0.1:{free_port()}"
    environment = {**os.environ, "PLURIVERSE_TOKEN": TOKEN}
    with started([PLURIVERSE, *PLAYING, "--http", where], env=environment) as (process, _):
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=END_S) as http,
            Client(streamable_http_client(f"http://{where}/mcp", http_client=http)) as client,
            waiting(client),
        ):
            process.send_signal(signal.SIGINT)
            # Not by subprocess' own wait, which would keep the client from hearing anything.
            await asyncio.to_thread(psutil.wait_procs, [psutil.Process(process.pid)], END_S)
            assert process.poll() is not None
    leftovers.assert_none(END_S)


async def test_a_client_that_hangs_up_over_http_frees_its_handle() -> None:
    where = f"127.0.0.1:{free_port()}"
    environment = {**os.environ, "PLURIVERSE_TOKEN": TOKEN}
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}
    with started([PLURIVERSE, *PLAYING, "--http", where], env=environment):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=END_S) as http,
            Client(streamable_http_client(f"http://{where}/mcp", http_client=http)) as client,
        ):
            async with waiting(client) as handle:
                pass
            # So does one of the protocol before, which names no version.
            params = {"name": "wait", "arguments": {"handle": handle, "seconds": WAIT_S}}
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            async with httpx.AsyncClient(headers=headers) as other:
                with pytest.raises(httpx.ReadTimeout):
                    await other.post(f"http://{where}/mcp", json=asked, timeout=1)
            await require_free(client, handle)


async def test_a_request_that_is_larger_than_any_tool_takes_is_refused() -> None:
    where = f"127.0.0.1:{free_port()}"
    with started([PLURIVERSE, *PLAYING, "--http", where]) as (_, said):
        token = said.split()[said.split().index("token") + 1]
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
            answer = await http.post(f"http://{where}/mcp", content=b"x" * (MAX_REQUEST_BYTES + 1))
    assert answer.status_code == 413
